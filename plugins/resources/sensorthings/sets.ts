import { allObservations, datastreams, features, locationOf, observedProperties, sensorEntities, sensorOf, thingOf } from './entities.ts'
import type { Entities, SetName } from './entity.ts'
import { these } from './entity.ts'
import type { EntityLoader } from './entity-loader.ts'
import { types } from './types.ts'

/** All entities of each set that the caller may see. */
export const sets: Readonly<Record<SetName, (world: EntityLoader) => Entities>> = {
  Things: world => sensorEntities(world, types.Things, thingOf),
  Locations: world => sensorEntities(world, types.Locations, locationOf),
  HistoricalLocations: () => these(types.HistoricalLocations, []),
  Datastreams: world => datastreams(world, {}),
  Sensors: world => sensorEntities(world, types.Sensors, sensorOf),
  ObservedProperties: observedProperties,
  Observations: allObservations,
  FeaturesOfInterest: features,
}

export const isSetName = (name: string): name is SetName => Object.hasOwn(sets, name)
