import {
  accountsNamedBy,
  type Caller,
  type Contributions,
  Forbidden,
  fullNameOf,
  Installation,
  Invalid,
  isServerAdmin,
  type Json,
  type MetadataCheck,
  MetadataChecks,
  type MetadataRecord,
  type NewMetadata,
  type Ref,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { agentOf, createdOf, type PostedDocument } from './json-ld.ts'
import { StoredMetadata } from './stored-metadata.ts'

/** What is to be said of a thing, whatever the thing. */
export type Statement = Omit<NewMetadata, 'target' | 'id' | 'isImporting'>

type Agent = MetadataRecord['agent']

const maxIds = 10

/** Adds documents for callers: works out in whose name, and holds what people say against the definitions. */
export class MetadataWriter {
  #documents: StoredMetadata
  #users: Users
  #checks: Contributions<MetadataCheck>
  #installation: Installation

  constructor(documents: StoredMetadata, users: Users, checks: Contributions<MetadataCheck>, installation: Installation) {
    this.#documents = documents
    this.#users = users
    this.#checks = checks
    this.#installation = installation
  }

  /** A document as it was posted. `Invalid` without an agent, `Forbidden` in the name of somebody else. */
  async posted(document: PostedDocument, caller: Caller): Promise<Statement> {
    const context = document['@context']
    const created = createdOf(document)
    return {
      ...(context === undefined ? {} : { context: context as Json }),
      agent: await this.#agentFor(agentOf(document), caller),
      content: document.content as Json,
      ...(created === undefined ? {} : { created }),
      author: caller.user?.id ?? null,
    }
  }

  /** What the caller says themselves. */
  own(content: Json, context: Json | undefined, caller: Caller): Statement {
    const { user } = caller
    const agent: Agent = { kind: 'user', name: user?.fullName ?? 'Unknown', extractorId: null, userId: user?.id ?? null }
    return { ...(context === undefined ? {} : { context }), agent, content, author: user?.id ?? null }
  }

  /** What came by one of the old addresses, which do not say whose it is. */
  unsigned(content: Json, caller: Caller): Statement {
    const extractorId = `${this.#installation.baseUrl}/extractors/deprecatedapi`
    return { agent: { kind: 'extractor', name: extractorId, extractorId, userId: null }, content, author: caller.user?.id ?? null }
  }

  /** Keeps it. `Invalid` when a person says what a definition does not take. */
  async add(target: Ref, statement: Statement): Promise<MetadataRecord & Stored> {
    await this.check(target, statement)
    return this.#documents.add({ ...statement, target })
  }

  async check(target: Ref, { agent, content }: Statement): Promise<void> {
    if (agent.kind === 'extractor') return
    for (const check of this.#checks.all()) await check.check(target, content)
  }

  /** Extractors are believed, as in Clowder 1.x, and so is who is no account of this server. In the name of another account only those speak who may act for all. */
  async #agentFor(agent: Agent, caller: Caller): Promise<Agent> {
    const named = await this.#named(agent.userId ?? '')
    const [user] = named
    if (!user) return agent
    if (named.some(({ id }) => id !== caller.user?.id) && caller.via !== 'service' && !isServerAdmin(caller)) {
      throw new Forbidden('agent.user_id names another account: add metadata in your own name or in the name of an extractor')
    }
    return { ...agent, userId: user.id, name: fullNameOf(user) }
  }

  /** Accounts of this server that an address may mean. */
  async #named(address: string): Promise<readonly (UserRecord & Stored)[]> {
    const { ids, email } = accountsNamedBy(address)
    if (ids.length > maxIds) throw new Invalid(`agent.user_id names more than ${maxIds} ids`)
    const users = [
      ...(await Promise.all(ids.map(id => this.#users.get(id)))),
      email === undefined ? undefined : await this.#users.byEmail(email),
    ]
    return users.filter(user => user !== undefined)
  }
}
wire(MetadataWriter, StoredMetadata, Users, MetadataChecks, Installation)
