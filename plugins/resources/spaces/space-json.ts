import { type SpaceRecord, type Stored, s } from 'pounce/sdk'

/** A space as v1 shows it everywhere. */
export const SpaceItem = s.model('Space', s.Object({ id: s.String(), name: s.String(), description: s.String(), created: s.v1Date() }))

export const toSpaceItem = (space: SpaceRecord & Stored): s.Static<typeof SpaceItem> => ({
  id: space.id,
  name: space.name,
  description: space.description,
  created: s.toV1Date(space.created),
})
