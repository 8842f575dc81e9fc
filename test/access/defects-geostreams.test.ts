import test from 'ava'
import { type Defect, defectTests, inPolicy, inRight, inRights, inRoute } from './defects.ts'
import { makeWorld } from './world.ts'

const closed = await makeWorld('closed')
test.after.always(() => closed.stop())

/** As in `defects.test.ts`; the last ones permit changes. */
const defects: Readonly<Record<string, Defect>> = {
  'readings are for everybody though the server says no': {
    who: 'anonymous',
    put: inRoute('getSensor', () => ({ permission: 'anyone' })),
    routes: ['getSensor'],
  },
  'a stream does not ask its sensor': {
    who: 'stranger',
    put: inRights('stream', rightsOf => async ids => {
      const found = await rightsOf(ids)
      return new Map([...found].map(([id, { author, spaces, state }]) => [id, { author, spaces, state, isPublic: true }]))
    }),
    routes: ['getStream'],
  },
  'a list of sensors leaves out the condition': {
    who: 'stranger',
    put: inPolicy(() => ({ visibleTo: () => 'all' })),
    routes: ['listSensors', 'listDatapoints'],
  },
  'a change of a sensor takes only the right to look': {
    who: 'viewer',
    put: inRight('updateSensor', { right: 'ViewGeoStream' }),
    routes: ['updateSensor'],
  },
  'nobody looks whose stream it is that readings are added to': {
    who: 'grouped',
    put: inPolicy(() => ({ allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['createDatapoints'],
  },
  'whoever may delete a reading may delete all': {
    who: 'editor',
    put: inRight('dropGeostreams', { right: 'DeleteGeoStream', unscoped: 'A defect.' }),
    routes: ['dropGeostreams'],
  },
}

defectTests(test, { closed }, 'closed', defects)
