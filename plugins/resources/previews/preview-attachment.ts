import { authorize, type Caller, type Json, NotFound, type Permission, Policy, type Ref, wire } from 'pounce/sdk'
import { StoredPreviews } from './stored-previews.ts'

/** What a preview shows is said by whoever may add to the thing; the right to the preview itself has been checked. */
export class PreviewAttachment {
  #previews: StoredPreviews
  #policy: Policy

  constructor(previews: StoredPreviews, policy: Policy) {
    this.#previews = previews
    this.#policy = policy
  }

  /** A preview of what is not there, or not for the caller to see, has nowhere to go and is deleted, as in Clowder 1.x. */
  async attach(
    id: string,
    { target, permission }: { readonly target: Ref; readonly permission: Permission },
    { extractor, metadata }: { readonly extractor: string | undefined; readonly metadata: Readonly<Record<string, Json>> },
    caller: Caller,
  ): Promise<void> {
    try {
      await authorize(this.#policy, caller, permission, target)
    } catch (error) {
      const preview = error instanceof NotFound ? await this.#previews.preview(id) : undefined
      if (preview?.target === null) await this.#previews.removePreview(preview, caller.user?.id)
      throw error
    }
    await this.#previews.attach(id, target, { extractor, metadata }, caller.user?.id)
  }
}
wire(PreviewAttachment, StoredPreviews, Policy)
