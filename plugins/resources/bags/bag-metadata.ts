import { type CallerUser, Invalid, type Json, type MetadataRecord, type NewMetadata, type Ref } from 'pounce/sdk'
import { readJson } from './bag-descriptions.ts'
import type { ReceivedBag } from './received-bag.ts'

/** Whose the documents become, and where they come to. */
export interface Receiver {
  readonly user: CallerUser
  /** Address of this installation: agents that are its own people are known again. */
  readonly baseUrl: string
}

type Given = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Given => typeof value === 'object' && value !== null && !Array.isArray(value)
const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[^/]/i.test(value) && URL.canParse(value) && value.length <= 2000

/** The agent is kept as it is; a document without one was made by whoever imports it. */
const agentOf = (agent: unknown, { user, baseUrl }: Receiver): MetadataRecord['agent'] => {
  if (!isObject(agent)) return { kind: 'user', name: user.fullName, extractorId: null, userId: user.id }
  const { name, extractor_id: extractor, user_id: person } = agent
  const called = typeof name === 'string' && name !== '' ? name.slice(0, 500) : undefined
  if (isAddress(extractor)) return { kind: 'extractor', name: called ?? extractor, extractorId: extractor, userId: null }
  const own = isAddress(person) && person.startsWith(`${baseUrl}/api/users/`) ? /\/([0-9a-f]{24})$/.exec(person)?.[1] : undefined
  return { kind: 'user', name: called ?? 'Unknown', extractorId: null, userId: own ?? (isAddress(person) ? person : null) }
}

const createdOf = (given: unknown): { readonly created?: string } => {
  const time = typeof given === 'string' ? Date.parse(given.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T')) : Number.NaN
  return Number.isNaN(time) ? {} : { created: new Date(time).toISOString() }
}

/** A document as v1 and we write it, or any JSON that somebody put there in its place. */
const documentOf = (given: unknown, path: string, target: Ref, receiver: Receiver): NewMetadata => {
  if (!isObject(given)) throw new Invalid(`${path}: a metadata document must be a JSON object`)
  const { '@context': context, agent, content, created_at: createdAt, ...rest } = given
  const said = typeof content === 'object' && content !== null ? content : rest
  return {
    target,
    ...(typeof context === 'string' || (typeof context === 'object' && context !== null) ? { context: context as Json } : {}),
    agent: agentOf(agent, receiver),
    content: said as Json,
    ...createdOf(createdAt),
    author: receiver.user.id,
    isImporting: true,
  }
}

/** The documents of a file in a bag, oldest first; it holds one or a list of them. */
export const metadataIn = async (
  bag: ReceivedBag,
  path: string | undefined,
  target: Ref,
  receiver: Receiver,
): Promise<readonly NewMetadata[]> => {
  if (path === undefined) return []
  const value = await readJson(bag, path)
  const documents = Array.isArray(value) ? value : [value]
  return documents.toReversed().map(document => documentOf(document, path, target, receiver))
}
