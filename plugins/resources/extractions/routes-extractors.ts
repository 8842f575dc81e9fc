import { Conflict, ExtractorInfo, Forbidden, Invalid, isServerAdmin, NotFound, routesFor, type Stored, s, Users } from 'pounce/sdk'
import type { ExtractorRecord } from './collections.ts'
import { mayUse, queueOf, type RegisteredExtractor, StoredExtractors } from './stored-extractors.ts'

const route = routesFor('extractors', { extractors: StoredExtractors, users: Users })
const name = s.String({ minLength: 1, maxLength: 200 })
const extractor_key = s.Optional(s.String({ maxLength: 100, description: 'The key of a private extractor' }))

/** An extractor in the API's format (reference, api-platform §7). */
const ShownExtractor = s.model(
  'Extractor',
  s.Intersect([
    s.Object({
      id: s.String(),
      updated: s.String(),
      permissions: s.Array(s.Object({ resourceType: s.String(), id: s.String() })),
      unique_key: s.Optional(s.String({ description: 'The key of a private extractor' })),
    }),
    ExtractorInfo,
  ]),
)

const showExtractor = ({ id, info, updated, key, permissions }: ExtractorRecord & Stored): s.Static<typeof ShownExtractor> => ({
  id,
  ...info,
  updated,
  ...(key === null ? {} : { unique_key: key }),
  // The apostrophe is part of Clowder 1.x's wire format.
  permissions: permissions.map(user => ({ resourceType: "'user", id: user })),
})

/** v1's refusal format, with the members of all problems. */
const refusal = <const T extends s.TSchema>(message: T) =>
  s.Object({ status: s.Literal('KO'), message, reason: s.Optional(s.String()), code: s.String(), requestId: s.String() })
const Faults = s.Record(s.String(), s.Array(s.Object({ msg: s.String(), args: s.Array(s.Unknown()) })), {
  description: 'Validation errors per member, such as `obj.name`',
})

const categories = s.Optional(s.repeated(s.String({ maxLength: 100 })))

async function* inCategories(
  all: AsyncIterable<RegisteredExtractor>,
  wanted: readonly string[] | undefined,
): AsyncGenerator<RegisteredExtractor> {
  const upper = wanted?.map(category => category.toUpperCase())
  for await (const extractor of all) {
    if (!upper || extractor.info.categories.some(category => upper.includes(category.toUpperCase()))) yield extractor
  }
}

async function* shownOf(all: AsyncIterable<RegisteredExtractor>): AsyncGenerator<s.Static<typeof ShownExtractor>> {
  for await (const extractor of all) yield showExtractor(extractor)
}

export const listExtractors = route({
  method: 'GET',
  path: '/api/extractors',
  summary: 'List extractors by name',
  description:
    'Public extractors, and private ones shared with you. `categories` (case-insensitive, repeatable) filters by category; `space` is ignored, as in v1.',
  permission: 'signedIn',
  jobKeys: 'allowed',
  cost: 'export',
  query: s.Object({ categories, space: s.Optional(s.String({ maxLength: 100 })) }),
  responses: { 200: s.rows(ShownExtractor) },
  async handle({ query, caller }, { extractors }) {
    return { status: 200, body: shownOf(inCategories(extractors.visibleTo(caller.user?.id), query.categories)) }
  },
})

export const getExtractor = route({
  method: 'GET',
  path: '/api/extractors/:name',
  summary: 'Get an extractor',
  permission: 'signedIn',
  jobKeys: 'allowed',
  params: s.Object({ name }),
  query: s.Object({ extractor_key }),
  responses: { 200: ShownExtractor, 404: refusal(s.String()) },
  throws: [NotFound],
  async handle({ params, query, caller }, { extractors }) {
    const extractor = await extractors.byQueue(queueOf(params.name, query.extractor_key))
    if (!extractor || !mayUse(extractor, caller.user?.id)) {
      throw new NotFound('extractor', { details: { status: 'KO', message: 'Extractor info not found' } })
    }
    return { status: 200, body: showExtractor(extractor) }
  },
})

export const registerExtractor = route({
  method: 'POST',
  path: '/api/extractors',
  summary: 'Register or update an extractor',
  description:
    'The body is its extractor_info.json. Registration does not enable it. With `extractor_key` it is private to the account with the email `user`. An extractor registered by another user, or built in, cannot be changed.',
  permission: 'signedIn',
  jobKeys: 'allowed',
  cost: 'import',
  query: s.Object({
    extractor_key,
    user: s.Optional(s.String({ maxLength: 320, description: 'Email of the owner of a private extractor' })),
  }),
  body: s.Record(s.String(), s.Unknown()),
  responses: { 200: s.Object({ status: s.Literal('OK'), message: s.String() }), 400: refusal(Faults) },
  throws: [Invalid, Forbidden, Conflict],
  async handle({ body, query, caller }, { extractors, users }) {
    const sent = extractors.read(body, query.extractor_key)
    const isAdmin = isServerAdmin(caller)
    const { job } = caller.limits ?? {}
    if (job && job.extractor !== sent.info.name)
      throw new Forbidden(`The key of a job of ${job.extractor} cannot register another extractor`)
    let user = caller.user?.id
    if (sent.key !== null) {
      const owner = query.user === undefined ? undefined : await users.byEmail(query.user)
      // The same response for another user's address and an unknown one.
      if (!owner || (!isAdmin && owner.id !== user))
        throw new Invalid('An extractor with a key requires user, your own email; an admin may name any account')
      user = owner.id
    }
    const id = await extractors.register(sent, { via: 'http', user, isAdmin })
    return { status: 200, body: { status: 'OK' as const, message: `Extractor info updated. ID = ${id}` } }
  },
})

export const deleteExtractor = route({
  method: 'DELETE',
  path: '/api/extractions/:name/delete',
  summary: 'Delete an extractor',
  description: 'It reappears when it registers again. No error if it is unknown.',
  permission: 'serverAdmin',
  params: s.Object({ name }),
  query: s.Object({ extractor_key }),
  responses: { 200: s.success() },
  async handle({ params, query }, { extractors }) {
    await extractors.remove(queueOf(params.name, query.extractor_key))
    return { status: 200, body: { status: 'success' } }
  },
})

export const listExtractorNames = route({
  method: 'GET',
  path: '/api/extractions/extractors_names',
  summary: 'List the names of extractors',
  permission: 'signedIn',
  jobKeys: 'allowed',
  cost: 'export',
  query: s.Object({ categories }),
  responses: { 200: s.Object({ Extractors: s.Array(s.String()) }) },
  async handle({ query, caller }, { extractors }) {
    const names: string[] = []
    for await (const { name } of inCategories(extractors.visibleTo(caller.user?.id), query.categories)) names.push(name)
    return { status: 200, body: { Extractors: names } }
  },
})
