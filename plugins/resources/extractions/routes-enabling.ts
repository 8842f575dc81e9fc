import { Invalid, NotFound, one, routesFor, s } from 'pounce/sdk'
import { Choices } from './stored-choices.ts'
import { KnownExtractors, type StoredExtractors } from './stored-extractors.ts'

const route = routesFor('extractors', { choices: Choices, extractors: KnownExtractors })
const names = s.Array(s.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 })
const Enabled = s.Object({ enabled: names })
const Choice = s.Object({ enabled: names, disabled: names })

const once = (list: readonly string[]): string[] => [...new Set(list)].sort()

/** A name nobody has registered is most likely a slip; one that was chosen before may stay, for its extractor can come back. */
const requireKnown = async (extractors: StoredExtractors, wanted: readonly string[], before: readonly string[]): Promise<void> => {
  const known = new Set((await extractors.all()).filter(({ key }) => key === null).map(({ name }) => name))
  const unknown = wanted.find(name => !known.has(name) && !before.includes(name))
  if (unknown !== undefined) throw new Invalid(`There is no public extractor named ${unknown}: /api/extractors lists those that are known`)
}

export const getEnabledExtractors = route({
  method: 'GET',
  path: '/api/extractors/enabled',
  summary: 'The extractors that run by themselves, unless a space says otherwise',
  description: 'Our own addition: v1 has this on a page for admins only.',
  permission: 'serverAdmin',
  responses: { 200: Enabled },
  async handle(_request, { choices }) {
    return { status: 200, body: { enabled: once(await choices.enabled()) } }
  },
})

export const setEnabledExtractors = route({
  method: 'POST',
  path: '/api/extractors/enabled',
  summary: 'Say which extractors run by themselves',
  description: 'Replaces the list whole, those that Pounce runs itself included. Our own addition.',
  permission: 'serverAdmin',
  body: Enabled,
  responses: { 200: Enabled },
  throws: [Invalid],
  async handle({ body }, { choices, extractors }) {
    const enabled = once(body.enabled)
    await requireKnown(extractors, enabled, await choices.enabled())
    await choices.setEnabled(enabled)
    return { status: 200, body: { enabled } }
  },
})

export const getSpaceExtractors = route({
  method: 'GET',
  path: '/api/spaces/:id/extractors',
  summary: 'The extractors that a space has enabled or disabled',
  description: 'One in neither list is as in the whole installation. Our own addition.',
  permission: 'EditSpace',
  of: one('space'),
  params: s.Object({ id: s.id() }),
  responses: { 200: Choice },
  throws: [NotFound],
  async handle({ params }, { choices }) {
    const { enabled, disabled } = await choices.ofSpace(params.id)
    return { status: 200, body: { enabled: once(enabled), disabled: once(disabled) } }
  },
})

export const setSpaceExtractors = route({
  method: 'PUT',
  path: '/api/spaces/:id/extractors',
  summary: 'Say which extractors run by themselves, and which do not, in a space',
  description:
    'Replaces both lists. For a dataset in several spaces, enabled in one is stronger than disabled in another. Our own addition.',
  permission: 'EditSpace',
  of: one('space'),
  params: s.Object({ id: s.id() }),
  body: Choice,
  responses: { 200: Choice },
  throws: [Invalid, NotFound],
  async handle({ params, body }, { choices, extractors }) {
    const choice = { enabled: once(body.enabled), disabled: once(body.disabled) }
    const both = choice.enabled.find(name => choice.disabled.includes(name))
    if (both !== undefined) throw new Invalid(`${both} is in enabled and in disabled: it can be in one of them`)
    const before = await choices.ofSpace(params.id)
    await requireKnown(extractors, [...choice.enabled, ...choice.disabled], [...before.enabled, ...before.disabled])
    await choices.setOfSpace(params.id, choice)
    return { status: 200, body: choice }
  },
})
