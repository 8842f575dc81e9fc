import { type CollectionRecord, collection, configPort, type Stored, s } from 'pounce/sdk'
import { capabilitiesBy, indexesForOrders, trashIndexes, trashSettings } from 'pounce/sdk/kit'

export type Collected = CollectionRecord & Stored

/** Collections. Lists show top-level ones; `byCreated` and similar indexes hold all, for users who search for one to edit. */
export const collections = collection<CollectionRecord>()('collections', {
  byCreated: { on: ['state', 'created'] },
  bySpace: { on: ['state', 'spaces', 'created'], array: 'spaces', sparse: 'spaces' },
  byAuthor: { on: ['state', 'author', 'created'] },
  byPublic: { on: ['state', 'isPublic', 'created'] },
  topByCreated: { on: ['state', 'isTopLevel', 'created'] },
  ...indexesForOrders({
    topBySpace: { on: ['state', 'isTopLevel', 'spaces', 'created'], array: 'spaces', sparse: 'spaces' },
    topByAuthor: { on: ['state', 'isTopLevel', 'author', 'created'] },
    topByPublic: { on: ['state', 'isTopLevel', 'isPublic', 'created'] },
    byRootSpace: { on: ['state', 'rootSpaces', 'created'], array: 'rootSpaces', sparse: 'rootSpaces' },
    byParent: { on: ['state', 'parents', 'created'], array: 'parents', sparse: 'parents' },
  }),
  topBySpaceAndAuthor: { on: ['state', 'isTopLevel', 'spaces', 'author', 'created'], array: 'spaces' },
  byName: { on: ['state', 'name', 'created'] },
  byNamePiece: { on: ['state', 'name~', 'created'], array: 'name~' },
  ...trashIndexes,
})

/** The reference of a collection that is to be removed from a space or parent. */
export const asDetached = ({ id, author }: Collected) => ({ kind: 'collection', id, author, permission: 'DeleteCollection' }) as const

export const config = s.Object(trashSettings('collection'))

export const Config = configPort(config)

export const CollectionTrashCapability = capabilitiesBy(Config, ({ useTrash, clearTrashAfterDays: clearAfterDays }) => ({
  trash: { collections: useTrash ? { clearAfterDays } : null },
}))

export type Settings = s.Static<typeof config>
