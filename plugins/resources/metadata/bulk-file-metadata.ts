import { type Caller, Forbidden, InTrash, Invalid, lacking, NotFound, Policy, type Ref, s, TooLarge, wire } from 'pounce/sdk'
import { MetadataWriter, type Statement } from './metadata-writer.ts'
import { StoredMetadata } from './stored-metadata.ts'

/** Why one of many files got nothing. */
export interface Refused {
  readonly id: string
  /** `not-found`, `forbidden`, `in-trash` or `invalid`. */
  readonly code: string
  readonly message: string
}

/** Characters that one request may make of one document. */
const mostText = 128 * 1024 * 1024

/** One document for many files, each looked at by itself. */
export class BulkFileMetadata {
  #policy: Policy
  #annotating: MetadataWriter
  #documents: StoredMetadata

  constructor(policy: Policy, annotating: MetadataWriter, documents: StoredMetadata) {
    this.#policy = policy
    this.#annotating = annotating
    this.#documents = documents
  }

  /** Rejects when no file takes it: `NotFound` when the caller sees none of them, else `InTrash`, `Forbidden` or `Invalid`. At most 1,000 ids. */
  async add(
    ids: readonly string[],
    statement: Statement,
    caller: Caller,
  ): Promise<{ readonly added: readonly string[]; readonly refused: readonly Refused[] }> {
    const files = [...new Set(ids)]
    if (files.length * JSON.stringify(statement).length > mostText) {
      throw new TooLarge(`This document for ${files.length} files exceeds ${mostText} bytes in total: send it for fewer files`)
    }
    const refused = new Map<string, Refused>()
    const refuse = (id: string, code: string, message: string): unknown => refused.set(id, { id, code, message })
    const known = files.filter(s.isId)
    const mayAdd = await this.#policy.allowed(caller, 'AddMetadata', 'file', known)
    const maySee = await this.#policy.allowed(caller, 'ViewFile', 'file', known)
    const rest = [...maySee.difference(mayAdd)]
    const frozen = await this.#policy.allowed(caller, 'AddMetadata', 'file', rest, 'readable')
    for (const id of files) {
      if (mayAdd.has(id)) continue
      if (frozen.has(id)) refuse(id, 'in-trash', new InTrash('file').message)
      else if (maySee.has(id)) refuse(id, 'forbidden', lacking(caller, 'AddMetadata', 'file').message)
      else refuse(id, 'not-found', new NotFound('file').message)
    }
    for (const id of mayAdd) {
      const fault = await this.#faultOf({ kind: 'file', id }, statement)
      if (fault) refuse(id, fault.code, fault.message)
    }
    const targets = files.filter(id => !refused.has(id)).map((id): Ref => ({ kind: 'file', id }))
    if (targets.length === 0) throw whole([...refused.values()])
    for (const each of await this.#documents.addToEach(targets, statement)) if (!each.ok) throw each.error
    return { added: targets.map(({ id }) => id), refused: [...refused.values()] }
  }

  async #faultOf(target: Ref, statement: Statement): Promise<Invalid | undefined> {
    try {
      await this.#annotating.check(target, statement)
      return undefined
    } catch (error) {
      if (error instanceof Invalid) return error
      throw error
    }
  }
}
wire(BulkFileMetadata, Policy, MetadataWriter, StoredMetadata)

/** The refusal of all: what is worth saying of one of them, with what there is to say of each. */
const whole = (refused: readonly Refused[]): Error => {
  const details = { refused }
  const invalid = refused.find(({ code }) => code === 'invalid')
  if (invalid) return new Invalid(invalid.message, { details })
  if (refused.some(({ code }) => code === 'in-trash')) return new InTrash('file', { details })
  const forbidden = refused.find(({ code }) => code === 'forbidden')
  return forbidden ? new Forbidden(forbidden.message, { details }) : new NotFound('file', { details })
}
