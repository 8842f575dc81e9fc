import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import test from 'ava'
import type { FeatureCollection } from 'geojson'
import { flatCountries } from './app/viewers/geo/world-countries.ts'

const load = createRequire(import.meta.url)

const countriesOf = async (scale: string) => {
  const { feature } = load('topojson-client') as { feature(world: unknown, countries: unknown): FeatureCollection }
  const world = JSON.parse(await readFile(load.resolve(`world-atlas/countries-${scale}.json`), 'utf8'))
  return flatCountries(feature(world, world.objects.countries))
}

test('countries of the base map have no lines across the map, and those at 180° appear at both edges', async t => {
  for (const scale of ['110m', '50m']) {
    const { features } = await countriesOf(scale)
    t.true(features.length > 170)
    const longitudes = new Map<unknown, readonly number[]>()
    for (const { properties, geometry } of features) {
      const name = properties?.['name']
      longitudes.set(
        name,
        geometry.coordinates.flat(2).map(([degrees = 0]) => degrees),
      )
      for (const ring of geometry.coordinates.flat())
        for (const [at, [x = 0, y = 0]] of ring.entries()) {
          const [beforeX = x, beforeY = y] = ring[at - 1] ?? []
          const isAlongPole = Math.abs(y) === 90 && Math.abs(beforeY) === 90
          if (Math.abs(x - beforeX) > 180 && !isAlongPole) t.fail(`${scale} ${name}: from ${beforeX} to ${x}`)
        }
    }
    for (const name of ['Russia', 'Fiji', 'Antarctica']) {
      const all = longitudes.get(name) ?? []
      t.true(Math.max(...all) >= 180 && Math.min(...all) <= -180, `${scale} ${name}`)
    }
  }
})
