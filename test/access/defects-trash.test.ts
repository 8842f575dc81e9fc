import test from 'ava'
import { type Defect, defectTests, inRights, inTrash } from './defects.ts'
import { looks } from './oracle/roles.ts'
import { makeWorld } from './world.ts'

const worlds = { private: await makeWorld('private') }
test.after.always(() => worlds.private.stop())

/** Treats a trashed resource as if it were not in the trash. */
const live = inRights(
  'dataset',
  rightsOf => async ids => new Map([...(await rightsOf(ids))].map(([id, rights]) => [id, { ...rights, state: 'live' }])),
)

/** As in `defects.test.ts`, in any order: each has its own trashed resources. */
const defects: Readonly<Record<string, Defect>> = {
  'a role can read the trash': {
    who: 'editor',
    put: inTrash(permission => (looks(permission) ? 'yes' : undefined)),
    routes: ['getSection', 'getFileMetadata'],
  },
  'a role with the permission to delete a dataset sees it in the trash': {
    who: 'spaceAdmin',
    put: inTrash((permission, { kind }) => (kind === 'dataset' && looks(permission) ? 'yes' : undefined)),
    routes: ['getDataset'],
  },
  'a role grants all Delete permissions in the trash': {
    who: 'grouped',
    put: inTrash(permission => (permission.startsWith('Delete') ? 'yes' : undefined)),
    routes: ['removeAllFileTags', 'deletePreview', 'removeMetadata'],
  },
  'the author of a dataset can write in the trash': {
    who: 'author',
    put: live,
    routes: ['renameDataset', 'commentFile', 'addSectionTags'],
  },
  'the author of a dataset can follow it in the trash': { who: 'author', put: live, routes: ['followDataset'] },
  'the author of a file can change it in the trash': { who: 'editor', put: live, routes: ['renameFile'] },
  'superadmin mode can write in the trash': { who: 'superAdmin', put: live, routes: ['describeFile'] },
  'the author of a file does not see it in the trash': {
    who: 'editor',
    put: inTrash((permission, { kind }) => (kind === 'file' && looks(permission) ? 'unseen' : undefined)),
    routes: ['getFileInfo'],
  },
  'the author of a dataset does not see it in the trash': {
    who: 'author',
    put: inTrash(permission => (looks(permission) ? 'unseen' : undefined)),
    routes: ['getDataset'],
  },
}

defectTests(
  test,
  worlds,
  'private',
  Object.fromEntries(Object.entries(defects).map(([title, defect]) => [title, { ...defect, isInTrash: true }])),
)
