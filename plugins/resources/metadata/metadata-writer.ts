import {
  anonymousUserId,
  type Caller,
  type Contributions,
  Forbidden,
  Installation,
  InTrash,
  Invalid,
  isServerAdmin,
  type Json,
  type MetadataCheck,
  MetadataChecks,
  type MetadataRecord,
  NotFound,
  Policy,
  type Ref,
  type Stored,
  s,
  TooLarge,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { accountsNamedBy, checkJsonLdContext, fullNameOf, type NamedAccounts, type NewMetadata, permissionDenied } from 'pounce/sdk/kit'
import { agentOf, createdOf, type PostedDocument } from './json-ld.ts'
import { StoredMetadata } from './stored-metadata.ts'

/** A new document, independent of its target. */
type Statement = Omit<NewMetadata, 'target' | 'id' | 'isImporting'>

type Agent = MetadataRecord['agent']

const maxIds = 10

/** The account, and the job if its key was sent. */
const submitter = ({ user, limits }: Caller): Pick<NewMetadata, 'author' | 'job'> => ({
  author: user?.id ?? null,
  ...(limits?.job === undefined ? {} : { job: limits.job.id }),
})

/** Adds documents for callers: determines the agent, and validates metadata of users against the definitions. */
export class MetadataWriter {
  #documents: StoredMetadata
  #users: Users
  #policy: Policy
  #checks: Contributions<MetadataCheck>
  #installation: Installation

  constructor(documents: StoredMetadata, users: Users, policy: Policy, checks: Contributions<MetadataCheck>, installation: Installation) {
    this.#documents = documents
    this.#users = users
    this.#policy = policy
    this.#checks = checks
    this.#installation = installation
  }

  /** A posted document. Throws `Invalid` without an agent or with an invalid context, `Forbidden` when it names another user. */
  async posted(document: PostedDocument, caller: Caller): Promise<Statement> {
    const context = document['@context'] ?? undefined
    const created = createdOf(document)
    if (context !== undefined) checkJsonLdContext(context)
    return {
      ...(context === undefined ? {} : { context: context as Json }),
      agent: await this.#agentFor(agentOf(document), caller),
      content: document.content as Json,
      ...(created === undefined ? {} : { created }),
      ...submitter(caller),
    }
  }

  /** A document of the calling user. */
  own(content: Json, context: Json | undefined, caller: Caller): Statement {
    const { user } = caller
    if (context !== undefined) checkJsonLdContext(context)
    const agent: Agent = { kind: 'user', name: user?.fullName ?? 'Unknown', extractorId: null, userId: user?.id ?? anonymousUserId }
    return { ...(context === undefined ? {} : { context }), agent, content, ...submitter(caller) }
  }

  /** A document sent to one of the old paths, which have no agent. */
  unsigned(content: Json, caller: Caller): Statement {
    const extractorId = `${this.#installation.baseUrl}/extractors/deprecatedapi`
    return { agent: { kind: 'extractor', name: extractorId, extractorId, userId: null }, content, ...submitter(caller) }
  }

  /** Stores a document. Throws `Invalid` when a user's value does not match a definition. */
  async add(target: Ref, statement: Statement, caller: Caller): Promise<MetadataRecord & Stored> {
    await this.check(target, statement, caller)
    return this.#documents.add({ ...statement, target })
  }

  async check(target: Ref, { agent, content }: Statement, caller: Caller): Promise<void> {
    if (agent.kind === 'extractor') return
    for (const check of this.#checks.all()) await check.check(target, content, caller)
  }

  /**
   * Names of extractors are accepted, as in Clowder 1.x, and so are users without an account on this server. Only callers who may act for
   * all users may name another account.
   */
  async #agentFor(agent: Agent, caller: Caller): Promise<Agent> {
    const address = accountsNamedBy(agent.userId ?? '')
    const named = await this.#named(address)
    const actsForAll = caller.via === 'service' || isServerAdmin(caller)
    const user = actsForAll ? named[0] : named.find(({ id }) => id === caller.user?.id)
    if (!actsForAll) await this.#requireUnseen(named, caller)
    if (user) return { ...agent, userId: user.id, name: fullNameOf(user) }
    // As in v1. An address of a user whom the caller may not view would make them appear as the author.
    const isOfAnAccount = address.ids.length > 0 || address.email !== undefined
    return isOfAnAccount && !actsForAll ? { ...agent, userId: anonymousUserId } : agent
  }

  /** Throws `Forbidden` if there are other accounts which the caller may view. */
  async #requireUnseen(named: readonly (UserRecord & Stored)[], caller: Caller): Promise<void> {
    const others = named.map(({ id }) => id).filter(id => id !== caller.user?.id)
    if ((await this.#policy.allowed(caller, 'ViewUser', 'user', others)).size === 0) return
    throw new Forbidden('agent.user_id names another account: add metadata in your own name or in the name of an extractor')
  }

  /** Accounts of this server that an agent may refer to. */
  async #named({ ids, email }: NamedAccounts): Promise<readonly (UserRecord & Stored)[]> {
    if (ids.length > maxIds) throw new Invalid(`agent.user_id names more than ${maxIds} ids`)
    const users = [
      ...(await Promise.all(ids.map(id => this.#users.get(id)))),
      email === undefined ? undefined : await this.#users.byEmail(email),
    ]
    return users.filter(user => user !== undefined)
  }
}
wire(MetadataWriter, StoredMetadata, Users, Policy, MetadataChecks, Installation)

/** Why one of several files was refused. */
interface Refused {
  readonly id: string
  /** `not-found`, `forbidden`, `in-trash` or `invalid`. */
  readonly code: string
  readonly message: string
}

/** Maximum number of characters stored by one request. */
const maxText = 128 * 1024 * 1024

/** Adds one document to many files, each with its own checks. */
export class BulkFileMetadata {
  #policy: Policy
  #annotating: MetadataWriter
  #documents: StoredMetadata

  constructor(policy: Policy, annotating: MetadataWriter, documents: StoredMetadata) {
    this.#policy = policy
    this.#annotating = annotating
    this.#documents = documents
  }

  /**
   * Rejects when all files are refused: `NotFound` when the caller may view none of them, else `InTrash`, `Forbidden` or `Invalid`. At most
   * 1,000 ids.
   */
  async add(
    ids: readonly string[],
    statement: Statement,
    caller: Caller,
  ): Promise<{ readonly added: readonly string[]; readonly refused: readonly Refused[] }> {
    const files = [...new Set(ids)]
    if (files.length * JSON.stringify(statement).length > maxText) {
      throw new TooLarge(`This document for ${files.length} files exceeds ${maxText} bytes in total: send it for fewer files`)
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
      else if (maySee.has(id)) refuse(id, 'forbidden', permissionDenied(caller, 'AddMetadata', 'file').message)
      else refuse(id, 'not-found', new NotFound('file').message)
    }
    for (const id of mayAdd) {
      const fault = await this.#faultOf({ kind: 'file', id }, statement, caller)
      if (fault) refuse(id, fault.code, fault.message)
    }
    const targets = files.filter(id => !refused.has(id)).map((id): Ref => ({ kind: 'file', id }))
    if (targets.length === 0) throw whole([...refused.values()])
    for (const each of await this.#documents.addToEach(targets, statement)) if (!each.ok) throw each.error
    return { added: targets.map(({ id }) => id), refused: [...refused.values()] }
  }

  async #faultOf(target: Ref, statement: Statement, caller: Caller): Promise<Invalid | undefined> {
    try {
      await this.#annotating.check(target, statement, caller)
      return undefined
    } catch (error) {
      if (error instanceof Invalid) return error
      throw error
    }
  }
}
wire(BulkFileMetadata, Policy, MetadataWriter, StoredMetadata)

/** The error for a request whose files are all refused: the most significant refusal, with the details of each. */
const whole = (refused: readonly Refused[]): Error => {
  const details = { refused }
  const invalid = refused.find(({ code }) => code === 'invalid')
  if (invalid) return new Invalid(invalid.message, { details })
  if (refused.some(({ code }) => code === 'in-trash')) return new InTrash('file', { details })
  const forbidden = refused.find(({ code }) => code === 'forbidden')
  return forbidden ? new Forbidden(forbidden.message, { details }) : new NotFound('file', { details })
}
