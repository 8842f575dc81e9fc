import { ExtractorInfo, type Stored, s } from 'pounce/sdk'
import type { ExtractorRecord } from './collections.ts'

/** An extractor as clients read it (reference, api-platform §7). */
export const ShownExtractor = s.model(
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

export const showExtractor = ({ id, info, updated, key, permissions }: ExtractorRecord & Stored): s.Static<typeof ShownExtractor> => ({
  id,
  ...info,
  updated,
  ...(key === null ? {} : { unique_key: key }),
  // the apostrophe is on the wire in Clowder 1.x
  permissions: permissions.map(user => ({ resourceType: "'user", id: user })),
})
