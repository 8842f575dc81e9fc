import { Invalid, NotFound, ref, routesFor, s } from 'pounce/sdk'
import { EnabledExtractors } from './enabled-extractors.ts'
import { StoredExtractors } from './stored-extractors.ts'

const route = routesFor('extractors', { enabledExtractors: EnabledExtractors, extractors: StoredExtractors })
const names = s.Array(s.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 })
const Enabled = s.Object({ enabled: names })
const Choice = s.model('ExtractorSelection', s.Object({ enabled: names, disabled: names }))

const once = (list: readonly string[]): string[] => [...new Set(list)].sort()

/** An unregistered name is probably a typo; one that is in the list already may stay, because its extractor can register again. */
const requireKnown = async (extractors: StoredExtractors, wanted: readonly string[], before: readonly string[]): Promise<void> => {
  const known = new Set<string>()
  for await (const { key, name } of extractors.all()) if (key === null) known.add(name)
  const unknown = wanted.find(name => !known.has(name) && !before.includes(name))
  if (unknown !== undefined) throw new Invalid(`Unknown public extractor ${unknown}: see /api/extractors`)
}

export const getEnabledExtractors = route({
  method: 'GET',
  path: '/api/extractors/enabled',
  summary: 'List the extractors enabled by default',
  description:
    'Extractors that run automatically, unless a space overrides it. An addition to Clowder 1.x, which has this on an admin page only.',
  permission: 'serverAdmin',
  responses: { 200: Enabled },
  async handle(_request, { enabledExtractors }) {
    return { status: 200, body: { enabled: once(await enabledExtractors.enabled()) } }
  },
})

export const setEnabledExtractors = route({
  method: 'POST',
  path: '/api/extractors/enabled',
  summary: 'Set the extractors enabled by default',
  description: 'Replaces the whole list, built-in extractors included. An addition to Clowder 1.x.',
  permission: 'serverAdmin',
  body: Enabled,
  responses: { 200: Enabled },
  throws: [Invalid],
  async handle({ body }, { enabledExtractors, extractors }) {
    const enabled = once(body.enabled)
    await requireKnown(extractors, enabled, await enabledExtractors.enabled())
    await enabledExtractors.setEnabled(enabled)
    return { status: 200, body: { enabled } }
  },
})

export const getSpaceExtractors = route({
  method: 'GET',
  path: '/api/spaces/:id/extractors',
  summary: 'List the extractors enabled or disabled in a space',
  description: 'Extractors in neither list follow the default of the installation. An addition to Clowder 1.x.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: s.Object({ id: s.id() }),
  responses: { 200: Choice },
  throws: [NotFound],
  async handle({ params }, { enabledExtractors }) {
    const { enabled, disabled } = await enabledExtractors.ofSpace(params.id)
    return { status: 200, body: { enabled: once(enabled), disabled: once(disabled) } }
  },
})

export const setSpaceExtractors = route({
  method: 'PUT',
  path: '/api/spaces/:id/extractors',
  summary: 'Enable or disable extractors in a space',
  description:
    'Replaces both lists. For a dataset in several spaces, enabled in one overrides disabled in another. An addition to Clowder 1.x.',
  permission: { right: 'EditSpace', on: ref('space', 'id') },
  params: s.Object({ id: s.id() }),
  body: Choice,
  responses: { 200: Choice },
  throws: [Invalid, NotFound],
  async handle({ params, body }, { enabledExtractors, extractors }) {
    const choice = { enabled: once(body.enabled), disabled: once(body.disabled) }
    const both = choice.enabled.find(name => choice.disabled.includes(name))
    if (both !== undefined) throw new Invalid(`${both} is in both enabled and disabled`)
    const before = await enabledExtractors.ofSpace(params.id)
    await requireKnown(extractors, [...choice.enabled, ...choice.disabled], [...before.enabled, ...before.disabled])
    await enabledExtractors.setOfSpace(params.id, choice)
    return { status: 200, body: choice }
  },
})
