import test from 'ava'
import { type Caller, ref } from 'pounce/sdk'
import {
  type Defect,
  defectTests,
  inCaller,
  inPolicy,
  inRight,
  inRights,
  inRoute,
  inUser,
  lettingIn,
  shuttingOut,
  telling,
  without,
} from './defects.ts'
import { makeWorld } from './world.ts'

const worlds = { private: await makeWorld('private'), public: await makeWorld('public') }
test.after.always(() => Promise.all(Object.values(worlds).map(world => world.stop())))

/** Treats a job key like the account's extractor key. */
const withoutJob = ({ limits: _job, ...caller }: Caller): Caller => caller

/** Defects that permit changes come last, and each admits a single caller, so that its side effects do not affect the next one. */
const defects: Readonly<Record<string, Defect>> = {
  'an empty permit list means everything': {
    who: 'readOnly',
    put: inPolicy(policy => ({
      visibleTo: (caller, permission) => {
        const where = policy.visibleTo(caller, permission)
        return where === 'nothing' ? 'all' : where
      },
    })),
    routes: ['listEditableDatasets'],
  },
  'a list is not filtered by rights': {
    who: 'stranger',
    put: inPolicy(() => ({ visibleTo: () => 'all' })),
    routes: ['listDatasets', 'listCollections'],
  },
  'no id of a batch is checked': {
    who: 'viewer',
    put: inPolicy(() => ({ allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['getMetadataOfFiles'],
  },
  'trashed resources are treated as live': {
    who: 'editor',
    put: inRights(
      'dataset',
      rightsOf => async ids => new Map([...(await rightsOf(ids))].map(([id, rights]) => [id, { ...rights, state: 'live' }])),
    ),
    routes: ['getDataset', 'getDatasetTags'],
  },
  'inactive accounts are admitted': { who: 'inactive', put: lettingIn('inactive'), routes: ['getDataset'] },
  'a revoked key is still valid': { who: 'revoked', put: lettingIn('revoked'), routes: ['getDataset'] },
  'an invalid key is refused on a public resource': {
    who: 'unknownKey',
    mode: 'public',
    put: shuttingOut('unknownKey'),
    routes: ['getDataset'],
  },
  'the terms of service are not required': {
    who: 'termsPending',
    put: inUser(() => ({ termsPending: undefined }) as never),
    routes: ['getDataset'],
  },
  'server admins have superadmin rights without requesting them': {
    who: 'serverAdmin',
    put: inCaller(({ user }) => ({ superAdmin: user?.status === 'Admin' })),
    routes: ['getDataset'],
  },
  'an extraction key can manage keys': {
    who: 'extractor',
    put: inCaller(() => ({ scope: 'full' })),
    routes: ['listKeys', 'getKey'],
  },
  'a key limited to a space can access all spaces': { who: 'otherSpaceKey', put: without('spaces'), routes: ['getFileInfo'] },
  'the key of a job ignores its target': {
    who: 'fileJobKey',
    put: inPolicy(policy => ({ canOn: (caller, permission, ref) => policy.canOn(withoutJob(caller), permission, ref) })),
    routes: ['getDataset'],
  },
  'the key of a job can access every list': {
    who: 'datasetJobKey',
    put: inRoute('listDatasets', () => ({ jobKeys: 'allowed' })),
    routes: ['listDatasets'],
  },
  'one list ignores private mode': {
    who: 'anonymous',
    put: inRoute('listDatasets', () => ({ permission: 'anyone' })),
    routes: ['listDatasets'],
  },
  'search does not check rights on its hits': {
    who: 'stranger',
    put: inPolicy(() => ({ searchScope: () => ({ all: true }), allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['search'],
  },
  'a derived resource ignores the rights of its parent': {
    who: 'stranger',
    put: inRoute('getPreviewInfo', () => ({ permission: 'signedIn' })),
    routes: ['getPreviewInfo'],
  },
  'a hidden resource is a 403 rather than a 404': {
    who: 'stranger',
    put: inPolicy(policy => ({
      canOn: async (caller, permission, ref) => {
        const verdict = await policy.canOn(caller, permission, ref)
        return verdict === 'unseen' ? 'no' : verdict
      },
    })),
    routes: ['getDataset'],
  },
  'the response for a hidden resource reveals its existence': {
    who: 'stranger',
    put: inRoute('getDatasetTags', ({ handle }) => ({ permission: 'anyone', handle: telling(handle) })),
    routes: ['getDatasetTags'],
  },
  'a route of a space is open to everyone who may view it': {
    who: 'viewer',
    put: inRight('getSpaceExtractors', { right: 'ViewSpace' }),
    routes: ['getSpaceExtractors'],
  },
  'an admin route is open to all signed-in users': {
    who: 'editor',
    put: inRoute('listUsers', () => ({ permission: 'signedIn' })),
    routes: ['listUsers'],
  },
  'everyone may download from a public server': {
    who: 'stranger',
    mode: 'public',
    put: inRight('downloadDatasetFolder', { right: 'ViewDataset' }),
    routes: ['downloadDatasetFolder'],
  },
  'the response for a malformed id differs from that for an unknown one': {
    who: 'stranger',
    put: inRight('getCollection', { on: ({ id }: { id: string }) => ({ kind: id.startsWith('f') ? 'space' : 'collection', id }) }),
    routes: ['getCollection'],
  },
  'read-only accounts may write': {
    who: 'readOnly',
    put: inUser(({ status }) => ({ status: status === 'ReadOnly' ? 'Active' : status })),
    routes: ['commentFile'],
  },
  'a read-only key may write': { who: 'readKey', put: without('verbs'), routes: ['describeFile'] },
  'a change only requires the permission to view': {
    who: 'viewer',
    put: inRight('describeCollection', { right: 'ViewCollection' }),
    routes: ['describeCollection'],
  },
  'a permission is checked without its resource': {
    who: 'stranger',
    put: inRight('describeDataset', { on: undefined, unscoped: 'A defect.' }),
    routes: ['describeDataset'],
  },
  'one of two ids is checked twice': {
    who: 'editor',
    put: inRoute('addDatasetToCollection', () => ({ alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'id') }] })),
    routes: ['addDatasetToCollection'],
  },
  'the rights on an attached resource are not checked': {
    who: 'viewer',
    put: inRoute('attachFileToDataset', () => ({ alsoRequires: [] })),
    routes: ['attachFileToDataset'],
  },
  'only the first id of a batch is checked': {
    who: 'grouped',
    put: inPolicy(policy => {
      const checked = new WeakSet<Caller>()
      return {
        canOn: async (caller, permission, ref) => {
          if (permission !== 'EditFile') return policy.canOn(caller, permission, ref)
          const verdict = checked.has(caller) ? 'yes' : await policy.canOn(caller, permission, ref)
          checked.add(caller)
          return verdict
        },
      }
    }),
    routes: ['attachFilesToDataset'],
  },
  'the key of a job can rename its target': {
    who: 'datasetJobKey',
    put: inRoute('renameDataset', () => ({ jobKeys: 'allowed' })),
    routes: ['renameDataset'],
  },
  'one end of a move is not checked': {
    who: 'stranger',
    put: inRight('moveFolder', { on: ref('dataset', 'id') }),
    routes: ['moveFolder'],
  },
}

defectTests(test, worlds, 'private', defects)

test('there are more than twenty defects', t => t.true(Object.keys(defects).length > 20))
