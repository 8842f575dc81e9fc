import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import { isRoute } from 'pounce/sdk'
import { compileSchema } from '../json-schema.ts'
import { loadPlugins } from '../kernel/plugins.ts'
import { answersOf, contentOf } from '../openapi/declared-answers.ts'
import { openapiDocument } from '../openapi/openapi.ts'
import { ownPluginIds } from '../own-plugins.ts'
import { registerRoutes } from './router.ts'

const routes = async () => {
  const loaded = await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))
  const routes = loaded.flatMap(({ name: plugin, plugin: { routes = {} } }) =>
    Object.entries(routes).flatMap(([name, route]) => (isRoute(route) ? [{ plugin, name, route, needs: {} }] : [])),
  )
  return registerRoutes(routes, true)
}

test('the routes of all plugins do not conflict, and all their schemas compile in strict mode', async t => {
  const all = await routes()
  t.true(all.length > 100)
  for (const { plugin, name, declaration, checks } of all) {
    t.notThrows(() => {
      // An empty body makes the check compile its schema.
      checks.body({})
      for (const answer of Object.values(answersOf(declaration)))
        for (const schema of [answer, ...Object.values(contentOf(answer))]) compileSchema(schema as never)
    }, `${name} of ${plugin}`)
  }
})

/** Routes that return uploaded or relayed bytes, which may have any type. */
const ofAnyType = new Set([...['getFile', 'getFileByLink', 'getLogoPicture', 'getLogoPictureAt', 'getPreview', 'getThumbnail', 'getTile']])

test('only uploaded or relayed bytes have any media type; generated responses declare theirs', async t => {
  const isAny = (schema: object): boolean => '*/*' in contentOf(schema)
  const found = (await routes()).filter(({ declaration }) => Object.values(answersOf(declaration)).some(isAny))
  t.deepEqual(
    found.flatMap(({ name, group }) => (group === 'proxy' || ofAnyType.has(name) ? [] : [name])),
    [],
  )
})

test('the API of all plugins is valid OpenAPI', async t => {
  const document = openapiDocument(await routes(), { version: '1.0.0', baseUrl: 'https://data.example.org' })
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  t.true(valid, JSON.stringify(errors))
})
