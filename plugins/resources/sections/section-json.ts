import { type Json, type SectionRecord, s } from 'pounce/sdk'
import type { Section } from './collection.ts'

const orNull = <T extends s.TSchema>(schema: T) => s.Optional(s.Union([schema, s.Null()]))
const Area = s.model('Area', s.Object({ x: s.Number(), y: s.Number(), w: s.Number(), h: s.Number() }))

/** A section as extractors send it. Members of other names are kept and shown as they are. */
export const PostedSection = s.model(
  'NewSection',
  s.Object(
    {
      file_id: s.Optional(s.String({ maxLength: 100, description: 'The file that this is a part of' })),
      area: orNull(Area),
      startTime: orNull(s.Number({ description: 'Seconds from the beginning' })),
      endTime: orNull(s.Number()),
      order: orNull(s.Integer()),
      description: orNull(s.prose()),
    },
    { additionalProperties: true },
  ),
)
export type PostedSection = s.Static<typeof PostedSection>

/** A section as Clowder 1.x shows it; `endTime`, `order`, `thumbnail` and `more` are ours. */
export const SectionJson = s.model(
  'Section',
  s.Object({
    id: s.String(),
    file_id: s.String(),
    startTime: s.String({ description: 'Seconds as text; `-1` if there is none' }),
    tags: s.Array(s.String()),
    area: s.Union([Area, s.Null()]),
    description: s.String(),
    endTime: s.Union([s.Number(), s.Null()]),
    order: s.Union([s.Integer(), s.Null()]),
    thumbnail: s.Union([s.String(), s.Null()]),
    more: s.Optional(s.Record(s.String(), s.Unknown(), { description: 'Other members that were sent' })),
  }),
)

/** Who adds a section is not in the body: ids, authors, times of making and tags are never taken from there. */
const own = new Set(['id', 'file_id', 'area', 'startTime', 'endTime', 'order', 'description', 'author', 'created', 'tags', 'thumbnail_id'])

export const fromPosted = (posted: PostedSection): Omit<SectionRecord, 'file' | 'author' | 'created'> => {
  const { area = null, startTime = null, endTime = null, order = null, description } = posted
  const rest = Object.entries(posted as Readonly<Record<string, Json>>).filter(([name]) => !own.has(name))
  const shape = area && { x: area.x, y: area.y, w: area.w, h: area.h }
  return {
    area: shape,
    startTime,
    endTime,
    order,
    description: description ?? '',
    thumbnail: null,
    tags: [],
    more: Object.fromEntries(rest),
  }
}

export const toSectionJson = (section: Section): s.Static<typeof SectionJson> => {
  const { id, file, startTime, tags, area, description, endTime, order, thumbnail, more } = section
  return {
    id,
    file_id: file,
    startTime: String(startTime ?? -1),
    tags: tags.map(({ name }) => name),
    area,
    description,
    endTime,
    order,
    thumbnail,
    ...(Object.keys(more).length > 0 ? { more } : {}),
  }
}
