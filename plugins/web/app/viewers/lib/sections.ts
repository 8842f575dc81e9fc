import type { ViewerHost } from '../host.ts'

/** Maximum number of sections, each of which takes a request. */
const maxSections = 50

interface Section {
  readonly description: string
  readonly tags: readonly string[]
  /** Seconds, as a string. */
  readonly startTime: string
  readonly endTime: number | null
  readonly area?: { readonly x: number; readonly y: number; readonly w: number; readonly h: number } | null
}

/** An annotated part of a file. */
export interface ShownSection extends Pick<Section, 'area' | 'startTime' | 'endTime'> {
  readonly text: string
}

/** The sections of a file; empty for previews. */
export const sectionsOf = async (host: ViewerHost): Promise<readonly ShownSection[]> => {
  if (host.thing.kind !== 'file') return []
  try {
    const ids = (await host.api(`/api/files/${host.thing.id}/sections`)) as readonly string[]
    const sections = await Promise.all(ids.slice(0, maxSections).map(id => host.api(`/api/sections/${id}`) as Promise<Section>))
    return sections.map(({ description, tags, ...rest }) => ({
      ...rest,
      text: [description, tags.join(', ')].filter(each => each !== '').join(' · '),
    }))
  } catch {
    // The file can be shown without its sections.
    return []
  }
}
