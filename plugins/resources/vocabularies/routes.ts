import { Invalid, multipart, NotFound, type Parts, ref, routesFor, type Stored, s, signedIn } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { type NewTerm, StoredVocabularies, type Term, type VocabularyRecord } from './stored-vocabularies.ts'

const TermJson = s.model(
  'VocabularyTerm',
  s.Object({
    vocab_term_id: s.String(),
    key: s.String(),
    default_value: s.String(),
    units: s.String(),
    description: s.String(),
  }),
)

/** A vocabulary with its terms; lists are comma-separated strings, as in Clowder 1.x. */
const FullJson = s.model(
  'Vocabulary',
  s.Object({
    id: s.String(),
    author: s.String(),
    name: s.String(),
    terms: s.Array(TermJson),
    keys: s.String(),
    tags: s.String(),
    description: s.String(),
    isPublic: s.String({ description: '`true` or `false`, as text' }),
    spaces: s.String(),
  }),
)

const ShortJson = s.model(
  'VocabularySummary',
  s.Object({
    id: s.String(),
    author: s.String(),
    name: s.String(),
    keys: s.Array(s.String()),
    description: s.String(),
    spaces: s.Array(s.String()),
  }),
)

const toTerm = ({ id, key, defaultValue, units, description }: Term): s.Static<typeof TermJson> => ({
  vocab_term_id: id,
  key,
  default_value: defaultValue,
  units,
  description,
})

const toFull = (vocabulary: VocabularyRecord & Stored): s.Static<typeof FullJson> => ({
  id: vocabulary.id,
  author: vocabulary.author,
  name: vocabulary.name,
  terms: vocabulary.terms.map(toTerm),
  keys: vocabulary.keys.join(','),
  tags: vocabulary.tags.join(','),
  description: vocabulary.description,
  isPublic: String(vocabulary.isPublic),
  spaces: vocabulary.spaces.join(','),
})

const toShort = ({ id, author, name, keys, description, spaces }: VocabularyRecord & Stored): s.Static<typeof ShortJson> => ({
  id,
  author,
  name,
  keys: [...keys],
  description,
  spaces: [...spaces],
})

const route = routesFor('vocabularies', { vocabularies: StoredVocabularies })

const params = s.Object({ id: s.id() })

const inSpace = s.Object({ id: s.id(), space: s.id() })

const commaList = () => optionalOrNull(s.prose(20_000))

const Words = {
  description: optionalOrNull(s.prose()),
  keys: commaList(),
  tags: commaList(),
  terms: optionalOrNull(
    s.Array(
      s.model(
        'NewVocabularyTerm',
        s.Object({
          key: s.line(),
          units: optionalOrNull(s.prose(500)),
          default_value: optionalOrNull(s.prose(1000)),
          description: optionalOrNull(s.prose()),
        }),
      ),
      { maxItems: 1000 },
    ),
  ),
}

const NewVocabulary = s.model('NewVocabulary', s.Object({ name: s.line(), ...Words }))

const Edited = s.model('VocabularyChange', s.Object({ name: optionalOrNull(s.line()), ...Words }))

const termsOf = ({ terms }: s.Static<typeof Edited>): readonly NewTerm[] =>
  (terms ?? []).map(({ key, units, default_value: defaultValue, description }) => ({
    key,
    units: units ?? '',
    defaultValue: defaultValue ?? '',
    description: description ?? '',
  }))

const wordsOf = (body: s.Static<typeof Edited>) => ({
  name: body.name ?? '',
  description: body.description ?? '',
  keys: body.keys ?? '',
  tags: body.tags ?? '',
  terms: termsOf(body),
})

async function* each<T, U>(some: AsyncIterable<T>, show: (one: T) => U): AsyncIterable<U> {
  for await (const one of some) yield show(one)
}

export const listVocabularies = route({
  method: 'GET',
  path: '/api/vocabularies/list',
  summary: "List the caller's vocabularies, oldest first",
  permission: 'signedIn',
  responses: { 200: s.rows(FullJson) },
  async handle({ caller }, { vocabularies }) {
    return { status: 200, body: each(vocabularies.by(signedIn(caller).id), toFull) }
  },
})

export const listOwnVocabularies = route({
  method: 'GET',
  path: '/api/vocabularies/getByAuthor',
  summary: "List the caller's vocabularies without their terms",
  permission: 'signedIn',
  responses: { 200: s.rows(ShortJson) },
  async handle({ caller }, { vocabularies }) {
    return { status: 200, body: each(vocabularies.by(signedIn(caller).id), toShort) }
  },
})

export const listPublicVocabularies = route({
  method: 'GET',
  path: '/api/vocabularies/getPublic',
  summary: 'List public vocabularies',
  permission: 'reader',
  responses: { 200: s.rows(FullJson) },
  async handle({ caller }, { vocabularies }) {
    return { status: 200, body: each(vocabularies.public(caller), toFull) }
  },
})

export const findOwnVocabularies = route({
  method: 'GET',
  path: '/api/vocabularies/:name/getByNameAuthor',
  summary: "List the caller's vocabularies with a name",
  permission: 'signedIn',
  params: s.Object({ name: s.String({ minLength: 1, maxLength: 500 }) }),
  responses: { 200: s.rows(ShortJson) },
  async handle({ params, caller }, { vocabularies }) {
    return { status: 200, body: each(vocabularies.by(signedIn(caller).id, params.name), toShort) }
  },
})

export const createVocabulary = route({
  method: 'POST',
  path: '/api/vocabularies/createVocabularyFromJson',
  summary: 'Create a vocabulary with terms',
  permission: { right: 'CreateVocabulary', unscoped: 'The vocabulary is new.' },
  query: s.Object({ isPublic: s.flag(false) }),
  body: NewVocabulary,
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ query, body, caller }, { vocabularies }) {
    const { id } = await vocabularies.add(wordsOf(body), query.isPublic, signedIn(caller).id)
    return { status: 200, body: { id } }
  },
})

const maxFieldLength = 20_000

/** The text fields of a form; file parts are ignored. */
const fieldsOf = async (parts: Parts): Promise<ReadonlyMap<string, string>> => {
  const fields = new Map<string, string>()
  for await (const part of parts) {
    if (part.kind === 'file') part.skip()
    else if (part.value.length > maxFieldLength) throw new Invalid(`${part.field} must be at most ${maxFieldLength} characters`)
    else fields.set(part.field, part.value.trim())
  }
  return fields
}

export const createVocabularyFromForm = route({
  method: 'POST',
  path: '/api/vocabularies/createVocabulary',
  summary: 'Create a vocabulary without terms from a form',
  permission: { right: 'CreateVocabulary', unscoped: 'The vocabulary is new.' },
  body: multipart('The fields name, keys (comma-separated) and description', 20, { name: 'text', keys: 'text', description: 'text' }),
  responses: { 200: s.Object({ id: s.String() }) },
  throws: [Invalid],
  async handle({ body, caller }, { vocabularies }) {
    const fields = await fieldsOf(body)
    const [name = '', description = '', keys = ''] = ['name', 'description', 'keys'].map(field => fields.get(field))
    if (name === '' || name.length > 500) throw new Invalid('name must have 1 to 500 characters')
    const { id } = await vocabularies.add({ name, description, keys, tags: '', terms: [] }, false, signedIn(caller).id)
    return { status: 200, body: { id } }
  },
})

export const getVocabulary = route({
  method: 'GET',
  path: '/api/vocabularies/:id',
  summary: 'Get a vocabulary with its terms',
  permission: { right: 'ViewVocabulary', on: ref('vocabulary', 'id') },
  params,
  responses: { 200: FullJson },
  throws: [NotFound],
  async handle({ params }, { vocabularies }) {
    const vocabulary = await vocabularies.get(params.id)
    if (!vocabulary) throw new NotFound('vocabulary')
    return { status: 200, body: toFull(vocabulary) }
  },
})

export const editVocabulary = route({
  method: 'PUT',
  path: '/api/editVocabulary/:id',
  summary: 'Update a vocabulary and add terms',
  description: 'Terms are appended. Omitted fields become empty, except the name. In Clowder 1.x for everyone.',
  permission: { right: 'EditVocabulary', on: ref('vocabulary', 'id') },
  params,
  body: Edited,
  responses: { 200: s.text() },
  throws: [Invalid, NotFound],
  async handle({ params, body }, { vocabularies }) {
    await vocabularies.edit(params.id, wordsOf(body))
    return { status: 200, body: `The vocabulary ${params.id} has been updated` }
  },
})

export const addVocabularyToSpace = route({
  method: 'POST',
  path: '/api/vocabularies/:id/addToSpace/:space',
  summary: 'Add a vocabulary to a space',
  permission: { right: 'EditVocabulary', on: ref('vocabulary', 'id') },
  alsoRequires: [{ right: 'AddResourceToSpace', on: ref('space', 'space') }],
  params: inSpace,
  responses: { 200: FullJson },
  throws: [Invalid, NotFound],
  async handle({ params }, { vocabularies }) {
    return { status: 200, body: toFull(await vocabularies.addToSpace(params.id, params.space)) }
  },
})

export const removeVocabularyFromSpace = route({
  method: 'POST',
  path: '/api/vocabuliaries/:id/removeFromSpace/:space',
  aliases: [{ path: '/api/vocabularies/:id/removeFromSpace/:space' }],
  summary: 'Remove a vocabulary from a space',
  description: 'The misspelt path is that of Clowder 1.x.',
  permission: { right: 'EditVocabulary', on: ref('vocabulary', 'id') },
  params: inSpace,
  responses: { 200: FullJson },
  throws: [NotFound],
  async handle({ params }, { vocabularies }) {
    return { status: 200, body: toFull(await vocabularies.removeFromSpace(params.id, params.space)) }
  },
})

async function* termsIn(some: AsyncIterable<VocabularyRecord>) {
  for await (const { terms } of some) yield* terms.map(toTerm)
}

export const listVocabularyTerms = route({
  method: 'GET',
  path: '/api/vocabterms/list',
  summary: 'List the terms of all visible vocabularies',
  permission: 'reader',
  responses: { 200: s.rows(TermJson) },
  async handle({ caller }, { vocabularies }) {
    return { status: 200, body: termsIn(vocabularies.visible(caller)) }
  },
})

export const getVocabularyTerm = route({
  method: 'GET',
  path: '/api/vocabterms/:id',
  summary: 'Get a term',
  permission: { right: 'ViewVocabularyTerm', on: ref('term', 'id') },
  params,
  responses: { 200: s.Object({ id: s.String(), key: s.String() }) },
  throws: [NotFound],
  async handle({ params }, { vocabularies }) {
    const term = await vocabularies.term(params.id)
    if (!term) throw new NotFound('term')
    return { status: 200, body: { id: term.id, key: term.key } }
  },
})
