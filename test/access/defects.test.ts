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
  'a list leaves out the condition': {
    who: 'stranger',
    put: inPolicy(() => ({ visibleTo: () => 'all' })),
    routes: ['listDatasets', 'listCollections'],
  },
  'no id of a batch is checked': {
    who: 'viewer',
    put: inPolicy(() => ({ allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['getMetadataOfFiles'],
  },
  'what is in the trash counts as live': {
    who: 'editor',
    put: inRights(
      'dataset',
      rightsOf => async ids => new Map([...(await rightsOf(ids))].map(([id, rights]) => [id, { ...rights, state: 'live' }])),
    ),
    routes: ['getDataset', 'getDatasetTags'],
  },
  'inactive accounts are let in': { who: 'inactive', put: lettingIn('inactive'), routes: ['getDataset'] },
  'a revoked key is as good as before': { who: 'revoked', put: lettingIn('revoked'), routes: ['getDataset'] },
  'a wrong key shuts out of what is public': { who: 'unknownKey', mode: 'public', put: shuttingOut('unknownKey'), routes: ['getDataset'] },
  'the terms of service are not required': {
    who: 'termsPending',
    put: inUser(() => ({ termsPending: undefined }) as never),
    routes: ['getDataset'],
  },
  'server admins need not request superadmin mode': {
    who: 'serverAdmin',
    put: inCaller(({ user }) => ({ superAdmin: user?.status === 'Admin' })),
    routes: ['getDataset'],
  },
  'an extraction key deals with keys': {
    who: 'extractor',
    put: inCaller(() => ({ scope: 'full' })),
    routes: ['listKeys', 'getKey'],
  },
  'a key held to a space reaches all': { who: 'otherSpaceKey', put: without('spaces'), routes: ['getFileInfo'] },
  'the key of a job ignores its target': {
    who: 'fileJobKey',
    put: inPolicy(policy => ({ canOn: (caller, permission, ref) => policy.canOn(withoutJob(caller), permission, ref) })),
    routes: ['getDataset'],
  },
  'the key of a job reaches every list': {
    who: 'datasetJobKey',
    put: inRoute('listDatasets', () => ({ jobKeys: 'allowed' })),
    routes: ['listDatasets'],
  },
  'private mode is forgotten in one list': {
    who: 'anonymous',
    put: inRoute('listDatasets', () => ({ permission: 'anyone' })),
    routes: ['listDatasets'],
  },
  'search shows what it finds without a look at the rights': {
    who: 'stranger',
    put: inPolicy(() => ({ searchScope: () => ({ all: true }), allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['search'],
  },
  'a derived thing does not ask its parent': {
    who: 'stranger',
    put: inRoute('getPreviewInfo', () => ({ permission: 'signedIn' })),
    routes: ['getPreviewInfo'],
  },
  'a hidden thing is forbidden, not absent': {
    who: 'stranger',
    put: inPolicy(policy => ({
      canOn: async (caller, permission, ref) => {
        const verdict = await policy.canOn(caller, permission, ref)
        return verdict === 'unseen' ? 'no' : verdict
      },
    })),
    routes: ['getDataset'],
  },
  'the answer about a hidden thing tells that there is one': {
    who: 'stranger',
    put: inRoute('getDatasetTags', ({ handle }) => ({ permission: 'anyone', handle: telling(handle) })),
    routes: ['getDatasetTags'],
  },
  'a route of a space is open to all who see it': {
    who: 'viewer',
    put: inRight('getSpaceExtractors', { right: 'ViewSpace' }),
    routes: ['getSpaceExtractors'],
  },
  'an admin route is open to everybody who is signed in': {
    who: 'editor',
    put: inRoute('listUsers', () => ({ permission: 'signedIn' })),
    routes: ['listUsers'],
  },
  'on a public server everybody may download': {
    who: 'stranger',
    mode: 'public',
    put: inRight('downloadDatasetFolder', { right: 'ViewDataset' }),
    routes: ['downloadDatasetFolder'],
  },
  'a wrong id is not answered like an unknown one': {
    who: 'stranger',
    put: inRight('getCollection', { on: ({ id }: { id: string }) => ({ kind: id.startsWith('f') ? 'space' : 'collection', id }) }),
    routes: ['getCollection'],
  },
  'accounts that only read may write': {
    who: 'readOnly',
    put: inUser(({ status }) => ({ status: status === 'ReadOnly' ? 'Active' : status })),
    routes: ['commentFile'],
  },
  'a key that only reads writes': { who: 'readKey', put: without('verbs'), routes: ['describeFile'] },
  'a change takes only the right to look': {
    who: 'viewer',
    put: inRight('describeCollection', { right: 'ViewCollection' }),
    routes: ['describeCollection'],
  },
  'a right is checked on nothing in particular': {
    who: 'stranger',
    put: inRight('describeDataset', { on: undefined, unscoped: 'A defect.' }),
    routes: ['describeDataset'],
  },
  'one of two ids is checked twice': {
    who: 'editor',
    put: inRoute('addDatasetToCollection', () => ({ alsoRequires: [{ right: 'ViewCollection', on: ref('collection', 'id') }] })),
    routes: ['addDatasetToCollection'],
  },
  'what is attached is not checked': {
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
  'the key of a job renames what it is about': {
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
