import { Forbidden, Invalid, isServerAdmin, NotFound, routesFor, s, Users } from 'pounce/sdk'
import { readExtractorInfo } from './extractor-info.ts'
import { ShownExtractor, showExtractor } from './extractor-json.ts'
import { type Extractor, KnownExtractors, mayUse, queueOf } from './stored-extractors.ts'

const route = routesFor('extractors', { extractors: KnownExtractors, users: Users })
const name = s.String({ minLength: 1, maxLength: 200 })
const extractor_key = s.Optional(s.String({ maxLength: 100, description: 'The key of a private extractor' }))
const categories = s.Optional(s.repeated(s.String({ maxLength: 100 })))

const inCategories = (all: readonly Extractor[], wanted: readonly string[] | undefined): readonly Extractor[] => {
  const upper = wanted?.map(category => category.toUpperCase())
  return upper ? all.filter(({ info }) => info.categories.some(category => upper.includes(category.toUpperCase()))) : all
}

export const listExtractors = route({
  method: 'GET',
  path: '/api/extractors',
  summary: 'The extractors that are known, by name',
  description:
    'Public ones, and the private ones that were given to you. `categories` (any case, may be repeated) keeps those that have one of them; `space` is ignored, as in v1.',
  permission: 'signedIn',
  query: s.Object({ categories, space: s.Optional(s.String({ maxLength: 100 })) }),
  responses: { 200: s.Array(ShownExtractor) },
  async handle({ query, caller }, { extractors }) {
    const all = await extractors.visibleTo(caller.user?.id)
    return { status: 200, body: inCategories(all, query.categories).map(showExtractor) }
  },
})

export const getExtractor = route({
  method: 'GET',
  path: '/api/extractors/:name',
  summary: 'One extractor',
  permission: 'signedIn',
  params: s.Object({ name }),
  query: s.Object({ extractor_key }),
  responses: { 200: ShownExtractor },
  throws: [NotFound],
  async handle({ params, query, caller }, { extractors }) {
    const extractor = await extractors.behind(queueOf(params.name, query.extractor_key))
    if (!extractor || !mayUse(extractor, caller.user?.id)) {
      throw new NotFound('extractor', { details: { status: 'KO', message: 'Extractor info not found' } })
    }
    return { status: 200, body: showExtractor(extractor) }
  },
})

export const registerExtractor = route({
  method: 'POST',
  path: '/api/extractors',
  summary: 'Register an extractor, or a new version of it',
  description:
    'The body is its extractor_info.json. Registering does not make it run by itself. With `extractor_key` it is private to the account whose e-mail is `user`. An extractor that somebody else registered, or that Pounce runs itself, is theirs to change.',
  permission: 'signedIn',
  query: s.Object({
    extractor_key,
    user: s.Optional(s.String({ maxLength: 320, description: 'E-mail of the owner of a private extractor' })),
  }),
  body: s.Record(s.String(), s.Unknown()),
  responses: { 200: s.Object({ status: s.Literal('OK'), message: s.String() }) },
  throws: [Invalid, Forbidden],
  async handle({ body, query, caller }, { extractors, users }) {
    const said = readExtractorInfo(body, query.extractor_key)
    const isAdmin = isServerAdmin(caller)
    let user = caller.user?.id
    if (said.key !== null) {
      const owner = query.user === undefined ? undefined : await users.byEmail(query.user)
      if (!owner) throw new Invalid('An extractor with a key needs user, the e-mail of an account that it belongs to')
      if (!isAdmin && owner.id !== user) throw new Forbidden('Only an admin can register a private extractor for somebody else')
      user = owner.id
    }
    const id = await extractors.register(said, { via: 'http', user, isAdmin })
    return { status: 200, body: { status: 'OK' as const, message: `Extractor info updated. ID = ${id}` } }
  },
})

export const deleteExtractor = route({
  method: 'DELETE',
  path: '/api/extractions/:name/delete',
  summary: 'Forget an extractor',
  description: 'It comes back when it registers again. One that is not known is no error.',
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
  summary: 'The names of the extractors that are known',
  permission: 'signedIn',
  query: s.Object({ categories }),
  responses: { 200: s.Object({ Extractors: s.Array(s.String()) }) },
  async handle({ query, caller }, { extractors }) {
    const all = inCategories(await extractors.visibleTo(caller.user?.id), query.categories)
    return { status: 200, body: { Extractors: all.map(extractor => extractor.name) } }
  },
})
