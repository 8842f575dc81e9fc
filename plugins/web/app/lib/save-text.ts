import { type Address, ApiError, api, apiTagged, type Input } from './api.ts'

/** The editable texts of every resource. */
export type TextMember = 'name' | 'description'

/** A resource with editable texts. */
export interface TextOwner {
  readonly kind: 'dataset' | 'collection' | 'space' | 'file'
  readonly id: string
}

/** Somebody else has changed a text since it was opened. */
export class TextConflict extends Error {
  readonly member: TextMember
  /** The current text. */
  readonly theirs: string

  constructor(member: TextMember, theirs: string) {
    super('changed meanwhile')
    this.member = member
    this.theirs = theirs
  }
}

const readAt = {
  dataset: 'GET /api/datasets/{id}',
  collection: 'GET /api/collections/{id}',
  space: 'GET /api/spaces/{id}',
  file: 'GET /api/files/{id}/metadata',
} as const satisfies Record<TextOwner['kind'], Address>

const writtenAt = {
  dataset: { name: 'PUT /api/datasets/{id}/title', description: 'PUT /api/datasets/{id}/description' },
  collection: { name: 'PUT /api/collections/{id}/title', description: 'PUT /api/collections/{id}/description' },
  space: { name: 'POST /api/spaces/{id}/update', description: 'POST /api/spaces/{id}/update' },
  file: { name: 'PUT /api/files/{id}/filename', description: 'PUT /api/files/{id}/updateDescription' },
} as const satisfies Record<TextOwner['kind'], Record<TextMember, Address>>

type Texts = Readonly<Record<TextMember, string>>

/** Others may change other members of the resource as often as this while one is saved. */
const tries = 10

/** Saves a text, unless somebody else has changed it since it was `before`: then rejects with `TextConflict`. */
export const saveText = async ({ kind, id }: TextOwner, member: TextMember, before: string, text: string): Promise<void> => {
  for (let left = tries; ; left--) {
    const { body, etag } = await apiTagged(readAt[kind], { path: { id }, query: { view: 'full' } })
    const { name, description } = body as Texts
    const now: Texts = { name, description }
    if (now[member] === text) return
    if (now[member] !== before) throw new TextConflict(member, now[member])
    const change = kind === 'space' ? { ...now, [member]: text } : { [member]: text }
    try {
      await api(writtenAt[kind][member], { path: { id }, body: change, ifMatch: etag } as Input<'POST /api/spaces/{id}/update'>)
      return
    } catch (error) {
      if (left === 0 || !(error instanceof ApiError && error.status === 412)) throw error
    }
  }
}
