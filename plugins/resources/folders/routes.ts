import { Conflict, DocumentStore, event, Folders, Invalid, NotFound, ref, routesFor, s, signedIn, wire } from 'pounce/sdk'
import { namesInPath, orNotFound } from 'pounce/sdk/kit'
import { type Folder, folders, removedFolder } from './collection.ts'
import { FolderMoves } from './folder-moves.ts'
import { withDisplayName } from './folder-places.ts'

/** Renames and deletes folders. */
class FolderTree {
  #documents: DocumentStore
  #folders: Folders

  constructor(documents: DocumentStore, all: Folders) {
    this.#documents = documents
    this.#folders = all
  }

  /** A folder in a dataset; `NotFound` for one of another dataset. */
  async inDataset(dataset: string, id: string): Promise<Folder> {
    const folder = s.isId(id) ? await this.#folders.get(id) : undefined
    if (folder?.dataset !== dataset) throw new NotFound('folder')
    return folder
  }

  /** Resolves to the folder with its new display name. */
  async rename(folder: Folder, name: string, actor: string | undefined): Promise<Folder> {
    const { id, dataset, parent } = folder
    const updated = event('folder.updated', { kind: 'folder', id }, { dataset }, actor)
    return withDisplayName(this.#documents, { parent: parent.id, name, self: id }, async displayName => {
      if (name === folder.name && displayName === folder.displayName) return folder
      return orNotFound('folder', this.#documents.commit({ update: id, in: folders, set: { name, displayName } }, [updated]))
    })
  }

  /** The contents are hidden immediately and deleted in the background. A missing folder is not an error. */
  async remove(folder: Folder, actor: string | undefined): Promise<void> {
    await orNotFound('folder', this.#documents.commit({ tombstone: folder.id, in: folders }, [removedFolder(folder, actor)]))
  }
}
wire(FolderTree, DocumentStore, Folders)

const route = routesFor('folders', { folders: Folders, tree: FolderTree, moves: FolderMoves })

const params = s.Object({ id: s.id() })

const pair = s.Object({ id: s.id(), folder: s.id() })

const name = s.filename()

const place = {
  id: s.String(),
  name: s.String(),
  parentDatasetID: s.String(),
  parentId: s.String(),
  parentType: s.String(),
  created: s.v1Date(),
}

const FolderPlace = s.model('FolderPlace', s.Object(place))

const toPlace = ({ id, name, dataset, parent, created }: Folder): s.Static<typeof FolderPlace> => ({
  id,
  name,
  parentDatasetID: dataset,
  parentId: parent.id,
  parentType: parent.kind,
  created: s.toV1Date(created),
})

const FolderItem = s.model(
  'Folder',
  s.Object({
    ...place,
    files: s.String({ description: 'Ids, separated by commas: none in a new folder' }),
    folders: s.String({ description: 'Ids, separated by commas: none in a new folder' }),
  }),
)

const ListedFolder = s.model('ListedFolder', s.Object({ id: s.String(), name: s.String({ description: 'Path of display names: `/a/b`' }) }))

const batchSize = 500

/** Folders with their paths, as a stream. Folders with a deleted ancestor are omitted. */
async function* withPaths(folders: Folders, dataset: string): AsyncIterable<s.Static<typeof ListedFolder>> {
  let some: Folder[] = []
  async function* named() {
    const paths = await folders.paths(some.map(folder => folder.id))
    for (const { id } of some) {
      const path = paths.get(id)
      if (path) yield { id, name: `/${path.join('/')}` }
    }
    some = []
  }
  for await (const folder of folders.ofDataset(dataset)) {
    some.push(folder)
    if (some.length === batchSize) yield* named()
  }
  yield* named()
}

export const createFolder = route({
  method: 'POST',
  path: '/api/datasets/:id/newFolder',
  summary: 'Create a folder',
  description: 'In a dataset or in one of its folders. A duplicate name is shown as `name (1)` and so on.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  body: s.model(
    'NewFolder',
    s.Object({
      name,
      parentId: s.String({ description: 'Id of the dataset, or of a folder in it' }),
      parentType: s.Union([s.Literal('dataset'), s.Literal('folder')]),
    }),
  ),
  responses: { 200: FolderItem },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, body, caller }, { folders }) {
    const parent = { kind: body.parentType, id: body.parentId }
    const folder = await folders.create({ name: body.name.normalize('NFC'), dataset: params.id, parent, author: signedIn(caller).id })
    return { status: 200, body: { ...toPlace(folder), files: '', folders: '' } }
  },
})

export const ensureFolder = route({
  method: 'POST',
  path: '/api/datasets/:id/folders',
  summary: 'Create a folder by its path',
  description:
    'An addition to Clowder 1.x. `path` is relative to the dataset, or to its folder `parentId`: `a/b/c`. Missing folders are created, each once, even if several requests ' +
    'do so at the same time; a folder that exists is returned.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  body: s.model(
    'NewFolderPath',
    s.Object({
      path: s.String({ description: 'At most 4,000 characters and 100 levels; no empty names, `.` or `..`' }),
      parentId: s.Optional(s.id()),
    }),
  ),
  responses: { 200: FolderPlace },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, body, caller }, { folders }) {
    const parent = { kind: body.parentId === undefined ? ('dataset' as const) : ('folder' as const), id: body.parentId ?? params.id }
    const path = namesInPath(body.path)
    return { status: 200, body: toPlace(await folders.ensure({ dataset: params.id, parent, path, author: signedIn(caller).id })) }
  },
})

export const listFolders = route({
  method: 'GET',
  path: '/api/datasets/:id/folders',
  summary: 'List the folders of a dataset with their paths',
  description: 'Requires the right to add to the dataset, as in Clowder 1.x.',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  jobKeys: 'allowed',
  params,
  responses: { 200: s.rows(ListedFolder) },
  throws: [NotFound],
  async handle({ params }, { folders }) {
    return { status: 200, body: withPaths(folders, params.id) }
  },
})

export const renameFolder = route({
  method: 'PUT',
  path: '/api/datasets/:id/updateName/:folder',
  summary: 'Rename a folder',
  permission: { right: 'AddResourceToDataset', on: ref('dataset', 'id') },
  params: pair,
  body: s.Object({ name }),
  responses: { 200: s.Object({ status: s.String(), newname: s.String({ description: 'Display name' }) }) },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, body, caller }, { tree }) {
    const folder = await tree.inDataset(params.id, params.folder)
    const { displayName } = await tree.rename(folder, body.name.normalize('NFC'), caller.user?.id)
    return { status: 200, body: { status: 'success', newname: displayName } }
  },
})

/** The dataset that is left, if the folder changes datasets. */
const left = ({ id, to }: { readonly id: string; readonly to?: string | undefined }) =>
  to === undefined || to === id ? [] : [{ kind: 'dataset' as const, id }]

export const moveFolder = route({
  method: 'POST',
  path: '/api/datasets/:id/moveFolder/:folder',
  summary: 'Move a folder',
  description:
    'Within its dataset or to another one. An addition to Clowder 1.x. To the root, unless `into` names a folder. The folder itself is moved when the response is sent; its contents follow level by level in the background: until a file is moved, the rights of its old dataset apply. Leaving a dataset requires the rights to remove from it and to edit its files.',
  permission: {
    right: 'AddResourceToDataset',
    on: ({ id, to }) => [...new Set([id, to ?? id])].map(dataset => ({ kind: 'dataset' as const, id: dataset })),
  },
  alsoRequires: [
    { right: 'RemoveResourceFromDataset', on: left },
    { right: 'EditFile', on: left },
  ],
  params: pair,
  query: s.Object({
    to: s.Optional(s.id('dataset')),
    into: s.Optional(s.id('folder')),
  }),
  responses: {
    200: s.model('FolderMove', s.Object({ status: s.String(), folderId: s.String(), newname: s.String({ description: 'Display name' }) })),
  },
  throws: [NotFound, Invalid, Conflict],
  async handle({ params, query, caller }, { tree, moves }) {
    const folder = await tree.inDataset(params.id, params.folder)
    const dataset = query.to ?? params.id
    const parent = query.into === undefined ? { kind: 'dataset' as const, id: dataset } : { kind: 'folder' as const, id: query.into }
    const { displayName } = await moves.move(folder, { dataset, parent }, caller.user?.id)
    return { status: 200, body: { status: 'success', folderId: params.folder, newname: displayName } }
  },
})

export const deleteFolder = route({
  method: 'DELETE',
  path: '/api/datasets/:id/deleteFolder/:folder',
  summary: 'Delete a folder and its contents',
  description: 'Files that are also elsewhere are kept there.',
  permission: { right: 'RemoveResourceFromDataset', on: ref('dataset', 'id') },
  params: pair,
  responses: { 200: s.Object({ status: s.String(), folderId: s.String() }) },
  throws: [NotFound],
  async handle({ params, caller }, { tree }) {
    await tree.remove(await tree.inDataset(params.id, params.folder), caller.user?.id)
    return { status: 200, body: { status: 'success', folderId: params.folder } }
  },
})
