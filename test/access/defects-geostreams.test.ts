import test from 'ava'
import { type Defect, defectTests, inPolicy, inRight, inRights, inRoute } from './defects.ts'
import { makeWorld } from './world.ts'

const closed = await makeWorld('closed')
test.after.always(() => closed.stop())

/** As in `defects.test.ts`; the last ones permit changes. */
const defects: Readonly<Record<string, Defect>> = {
  'geostreams are public although the setting is off': {
    who: 'anonymous',
    put: inRoute('getSensor', () => ({ permission: 'anyone' })),
    routes: ['getSensor'],
  },
  'a stream ignores the rights of its sensor': {
    who: 'stranger',
    put: inRights('stream', rightsOf => async ids => {
      const found = await rightsOf(ids)
      return new Map([...found].map(([id, { author, spaces, state }]) => [id, { author, spaces, state, isPublic: true }]))
    }),
    routes: ['getStream'],
  },
  'a list of sensors is not filtered by rights': {
    who: 'stranger',
    put: inPolicy(() => ({ visibleTo: () => 'all' })),
    routes: ['listSensors', 'listDatapoints'],
  },
  'a change of a sensor only requires the permission to view': {
    who: 'viewer',
    put: inRight('updateSensor', { right: 'ViewGeoStream' }),
    routes: ['updateSensor'],
  },
  'adding datapoints does not check the rights on the stream': {
    who: 'grouped',
    put: inPolicy(() => ({ allowed: async (_caller, _permission, _kind, ids) => new Set(ids) })),
    routes: ['createDatapoints'],
  },
  'the permission to delete a datapoint allows deleting all': {
    who: 'editor',
    put: inRight('dropGeostreams', { right: 'DeleteGeoStream', unscoped: 'A defect.' }),
    routes: ['dropGeostreams'],
  },
}

defectTests(test, { closed }, 'closed', defects)
