import { type Caller, Forbidden, Invalid, lacking, NotFound, Policy, port, type Ref, s, TooLarge, wire } from 'pounce/sdk'
import { type Annotating, Annotations, type Statement } from './annotating.ts'
import { MetadataDesk, type StoredMetadata } from './stored-metadata.ts'

/** Why one of many files got nothing. */
export interface Refused {
  readonly id: string
  /** `not-found`, `forbidden` or `invalid`. */
  readonly code: string
  readonly message: string
}

/** Characters that one request may make of one document. */
const mostText = 128 * 1024 * 1024

/** One document for many files, each looked at by itself. */
export class AddingToFiles {
  #policy: Policy
  #annotating: Annotating
  #documents: StoredMetadata

  constructor(policy: Policy, annotating: Annotating, documents: StoredMetadata) {
    this.#policy = policy
    this.#annotating = annotating
    this.#documents = documents
  }

  /** Rejects when no file takes it: `NotFound` when the caller sees none of them, else `Forbidden` or `Invalid`. At most 1,000 ids. */
  async add(
    ids: readonly string[],
    statement: Statement,
    caller: Caller,
  ): Promise<{ readonly added: readonly string[]; readonly refused: readonly Refused[] }> {
    const files = [...new Set(ids)]
    if (files.length * JSON.stringify(statement).length > mostText) {
      throw new TooLarge(`This document times ${files.length} files is more than ${mostText} bytes: send it for fewer files at once`)
    }
    const refused = new Map<string, Refused>()
    const refuse = (id: string, code: string, message: string): unknown => refused.set(id, { id, code, message })
    const known = files.filter(s.isId)
    const mayAdd = await this.#policy.allowed(caller, 'AddMetadata', 'file', known)
    const maySee = await this.#policy.allowed(caller, 'ViewFile', 'file', known)
    for (const id of files) {
      if (mayAdd.has(id)) continue
      if (maySee.has(id)) refuse(id, 'forbidden', lacking(caller, 'AddMetadata', 'file').message)
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
wire(AddingToFiles, Policy, Annotations, MetadataDesk)

/** The refusal of all: what is worth saying of one of them, with what there is to say of each. */
const whole = (refused: readonly Refused[]): Error => {
  const details = { refused }
  const invalid = refused.find(({ code }) => code === 'invalid')
  if (invalid) return new Invalid(invalid.message, { details })
  const forbidden = refused.find(({ code }) => code === 'forbidden')
  return forbidden ? new Forbidden(forbidden.message, { details }) : new NotFound('file', { details })
}

export const FileAdditions = port<AddingToFiles>('metadata.addingToFiles')
