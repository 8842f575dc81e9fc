import { type CallerUser, Invalid, type Json, type MetadataRecord, type Ref } from 'pounce/sdk'
import { accountsNamedBy, isJsonObject, type NewMetadata } from 'pounce/sdk/kit'
import type { Sidecars } from './sidecars.ts'

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[^/]/i.test(value) && URL.canParse(value) && value.length <= 2000

/**
 * Extractor agents are kept. A person named in a bag is unverified: the importer becomes the author, and the person is recorded as text.
 */
const agentOf = (agent: unknown, user: CallerUser): MetadataRecord['agent'] => {
  const importer = { kind: 'user', name: user.fullName, extractorId: null, userId: user.id } as const
  if (!isJsonObject(agent)) return importer
  const { name, extractor_id: extractor, user_id: person, attributed_to: before } = agent
  const called = typeof name === 'string' && name !== '' ? name.slice(0, 500).toWellFormed() : undefined
  if (isAddress(extractor)) return { kind: 'extractor', name: called ?? extractor, extractorId: extractor, userId: null }
  const isImporter = isAddress(person) && accountsNamedBy(person).ids.includes(user.id)
  const address = isAddress(person) ? `<${person}>` : ''
  const described = isImporter ? before : `${called ?? ''} ${address}`.trim()
  return {
    ...importer,
    ...(typeof described === 'string' && described !== '' ? { attributedTo: described.slice(0, 3000).toWellFormed() } : {}),
  }
}

/** A document in the format of v1 or Pounce, or arbitrary JSON in its place. */
const documentOf = (given: unknown, path: string, target: Ref, user: CallerUser, sidecars: Sidecars): NewMetadata => {
  if (!isJsonObject(given)) throw new Invalid(`${path}: a metadata document must be a JSON object`)
  const { '@context': context, agent, content, created_at: createdAt, ...rest } = given
  const described = typeof content === 'object' && content !== null ? content : rest
  const createdMs = sidecars.dates.msOf(createdAt)
  return {
    target,
    ...(typeof context === 'string' || (typeof context === 'object' && context !== null) ? { context: context as Json } : {}),
    agent: agentOf(agent, user),
    content: described as Json,
    ...(createdMs === undefined ? {} : { created: new Date(createdMs).toISOString() }),
    author: user.id,
    isImporting: true,
  }
}

/** The documents of a file in a bag, oldest first; the file contains one document or a list. */
export async function* metadataIn(
  sidecars: Sidecars,
  path: string | undefined,
  target: Ref,
  user: CallerUser,
): AsyncGenerator<NewMetadata> {
  if (path === undefined) return
  for await (const document of sidecars.documents(path)) yield documentOf(document, path, target, user, sidecars)
}
