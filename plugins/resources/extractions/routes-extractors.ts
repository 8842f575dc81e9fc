import { Forbidden, Invalid, isServerAdmin, NotFound, routesFor, s } from 'pounce/sdk'
import { readExtractorInfo, ShownExtractor, showExtractor } from './extractor-json.ts'
import { KnownExtractors } from './stored-extractors.ts'

const route = routesFor('extractors', { extractors: KnownExtractors })
const name = s.String({ minLength: 1, maxLength: 200 })

export const listExtractors = route({
  method: 'GET',
  path: '/api/extractors',
  summary: 'The extractors that are known, by name',
  description: '`categories` (any case, may be repeated) keeps those that have one of them.',
  permission: 'signedIn',
  query: s.Object({ categories: s.Optional(s.repeated(s.String({ maxLength: 100 }))) }),
  responses: { 200: s.Array(ShownExtractor) },
  async handle({ query }, { extractors }) {
    const wanted = query.categories?.map(category => category.toUpperCase())
    const all = await extractors.all()
    const shown = wanted ? all.filter(({ info }) => info.categories.some(category => wanted.includes(category.toUpperCase()))) : all
    return { status: 200, body: shown.map(showExtractor) }
  },
})

export const getExtractor = route({
  method: 'GET',
  path: '/api/extractors/:name',
  summary: 'One extractor',
  permission: 'signedIn',
  params: s.Object({ name }),
  responses: { 200: ShownExtractor },
  throws: [NotFound],
  async handle({ params }, { extractors }) {
    const extractor = await extractors.named(params.name)
    if (!extractor) throw new NotFound('extractor', { details: { status: 'KO', message: 'Extractor info not found' } })
    return { status: 200, body: showExtractor(extractor) }
  },
})

export const registerExtractor = route({
  method: 'POST',
  path: '/api/extractors',
  summary: 'Register an extractor, or a new version of it',
  description:
    'The body is its extractor_info.json. Registering does not make it run by itself. An extractor that somebody else registered, or that Pounce runs itself, is theirs to change.',
  permission: 'signedIn',
  body: s.Record(s.String(), s.Unknown()),
  responses: { 200: s.Object({ status: s.Literal('OK'), message: s.String() }) },
  throws: [Invalid, Forbidden],
  async handle({ body, caller }, { extractors }) {
    const info = readExtractorInfo(body)
    const id = await extractors.register(info, { user: caller.user?.id, isAdmin: isServerAdmin(caller), isBuiltIn: false })
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
  responses: { 200: s.success() },
  async handle({ params }, { extractors }) {
    await extractors.remove(params.name)
    return { status: 200, body: { status: 'success' } }
  },
})

export const listExtractorNames = route({
  method: 'GET',
  path: '/api/extractions/extractors_names',
  summary: 'The names of the extractors that are known',
  permission: 'signedIn',
  responses: { 200: s.Object({ Extractors: s.Array(s.String()) }) },
  async handle(_request, { extractors }) {
    return { status: 200, body: { Extractors: (await extractors.all()).map(extractor => extractor.name) } }
  },
})
