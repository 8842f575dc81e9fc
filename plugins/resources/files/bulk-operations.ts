import { authorize, type BulkOperations, event, Files, type Kind, NotFound, type Permission, Policy, wire } from 'pounce/sdk'
import { type BulkAct, type BulkOperation, type BulkRequest, ownLicense } from 'pounce/sdk/kit'
import { FileRemoval } from './file-removal.ts'

/** File operations of bulk jobs, as the routes for a single file do them. */
export class FileBulkOperations implements BulkOperations {
  readonly #files: Files
  readonly #removal: FileRemoval
  readonly #policy: Policy
  readonly #operations: Partial<Record<BulkAct, BulkOperation>> = {
    delete: (request, id) => this.#delete(request, id),
    describe: (request, id) => this.#set(request, id, 'EditFile', { description: request.parameters.description ?? '' }),
    license: (request, id) => this.#set(request, id, 'EditLicense', { license: request.parameters.license ?? ownLicense }),
  }

  constructor(files: Files, removal: FileRemoval, policy: Policy) {
    this.#files = files
    this.#removal = removal
    this.#policy = policy
  }

  of(act: BulkAct, kind: Kind): BulkOperation | undefined {
    return kind === 'file' ? this.#operations[act] : undefined
  }

  async #delete({ caller }: BulkRequest, id: string): Promise<void> {
    await authorize(this.#policy, caller, 'DeleteFile', { kind: 'file', id })
    const file = await this.#files.get(id)
    if (!file) throw new NotFound('file')
    await this.#removal.remove(file, caller.user?.id)
  }

  async #set({ caller }: BulkRequest, id: string, permission: Permission, set: Readonly<Record<string, string | object>>): Promise<void> {
    await authorize(this.#policy, caller, permission, { kind: 'file', id })
    const updated = event('file.updated', { kind: 'file', id }, { fields: Object.keys(set) }, caller.user?.id)
    await this.#files.change(id, { set }, [updated])
  }
}
wire(FileBulkOperations, Files, FileRemoval, Policy)
