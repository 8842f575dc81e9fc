import { useQuery } from '@tanstack/react-query'
import type { ViewedThing } from '../viewers/host.ts'
import { type Answer, api } from './api.ts'
import { currentLanguage } from './i18n.ts'

/** What a plugin contributes to the interface. */
export type Contribution = Answer<'GET /api/web/contributions'>[number]

/** All contributions visible to this user; undefined until loaded. */
export const useContributions = (): readonly Contribution[] | undefined => {
  const language = currentLanguage()
  return useQuery({
    queryKey: ['web-contributions', language],
    queryFn: ({ signal }) => api('GET /api/web/contributions', { query: { language }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  }).data
}

/** The page of a plugin that shows resources of its own kind. */
export const pageOfKind = (all: readonly Contribution[], kind: string): Contribution | undefined =>
  all.find(one => one.kind === 'page' && one.of.includes(kind))

const fitsType = (pattern: string, type: string): boolean =>
  pattern === type || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))

/** Whether a viewer accepts such bytes, by media type, file extension and size. */
const isFor = ({ viewer }: Contribution, { contentType, name, sizeBytes }: ViewedThing): boolean => {
  if (!viewer || sizeBytes > viewer.maxBytes) return false
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const lowerName = name.toLowerCase()
  return (
    viewer.mediaTypes.some(pattern => fitsType(pattern, type)) ||
    viewer.extensions.some(ending => lowerName === ending || lowerName.endsWith(`.${ending}`))
  )
}

/** Viewers for a file or a preview, the best first. */
export const viewersFor = (all: readonly Contribution[], thing: ViewedThing): readonly Contribution[] =>
  all.filter(one => one.kind === 'viewer' && isFor(one, thing)).sort((one, other) => (other.viewer?.rank ?? 0) - (one.viewer?.rank ?? 0))

/** Tabs, panels or actions for a resource: those that this user has the permission for. */
export const partsFor = (
  all: readonly Contribution[],
  kind: 'tab' | 'panel' | 'action',
  thing: Pick<ViewedThing, 'kind' | 'rights'>,
): readonly Contribution[] =>
  all
    .filter(one => one.kind === kind && one.of.includes(thing.kind))
    .filter(({ permission }) => permission === undefined || (thing.rights as readonly string[]).includes(permission))
    .sort((one, other) => one.order - other.order)
