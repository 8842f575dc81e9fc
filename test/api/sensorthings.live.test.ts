import test from 'ava'
import { bootForTest, liveTests, type TestServer } from 'pounce/sdk/testing'
import { addressOf, dawn, makeStations, type StaPage } from '../support/sensorthings.ts'
import { placesOn } from '../support/server-places.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const hour = 3_600_000
const timeAt = (hours: number): string => new Date(dawn + hours * hour).toISOString()
const inside = "geography'POLYGON((-90.5 39,-86.5 39,-86.5 41,-90.5 41,-90.5 39))'"

const questions = [
  ...[
    '/Things',
    '/Locations',
    '/Sensors',
    '/Datastreams',
    '/ObservedProperties',
    '/Observations?$top=1000',
    '/FeaturesOfInterest?$top=1000',
  ],
  '/Things?$expand=Datastreams($expand=Observations($top=1;$orderby=phenomenonTime desc))',
  `/Things?$filter=st_within(Locations/location,${inside})`,
  '/Observations?$orderby=phenomenonTime desc&$top=1000',
  "/Datastreams('1:nitrate')/Observations?$count=true&$top=1",
  ...[
    `phenomenonTime ge ${timeAt(5)} and phenomenonTime lt ${timeAt(9)}`,
    `overlaps(phenomenonTime,${timeAt(4.25)}/${timeAt(8.25)})`,
    'result gt 3',
    `resultTime gt ${timeAt(20)}`,
  ].map(filter => `/Datastreams('1:nitrate')/Observations?$top=3&$orderby=phenomenonTime desc&$filter=${filter}`),
]

/** All pages of a response, without the address of the server. */
const pagesOf = async (server: TestServer, path: string): Promise<readonly unknown[]> => {
  const pages: unknown[] = []
  for (let next: string | undefined = addressOf(path); next !== undefined; ) {
    const answer = await server.as()(next)
    const page = JSON.parse((await answer.text()).replaceAll(server.url, '')) as StaPage
    pages.push(answer.status, page)
    next = page['@iot.nextLink']
  }
  return pages
}

live('SensorThings responses are identical with PostGIS and SQLite', async t => {
  const { settings } = await placesOn(t, url, ['geo.postgis'])
  const servers = [await bootForTest({ t }), await bootForTest({ t, env: settings })]
  for (const server of servers) await makeStations(server, { firstPoint: 1_000_000 })
  const [one, other] = servers as [TestServer, TestServer]
  for (const question of questions) t.deepEqual(await pagesOf(other, question), await pagesOf(one, question), question)
})
