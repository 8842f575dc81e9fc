import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import { isRoute } from 'pounce/sdk'
import { mountAll } from './http/mount-all.ts'
import { compileSchema } from './http/schemas.ts'
import { openapiDocument } from './openapi.ts'
import { loadPlugins, ownPluginIds } from './plugins.ts'

const mounts = async () => {
  const loaded = await loadPlugins(ownPluginIds().map(plugin => ({ plugin })))
  const routes = loaded.flatMap(({ name: plugin, plugin: { routes = {} } }) =>
    Object.entries(routes).flatMap(([name, route]) => (isRoute(route) ? [{ plugin, name, route, needs: {} }] : [])),
  )
  return mountAll(routes, true)
}

test('the routes of all plugins live together, and every schema of theirs compiles strictly', async t => {
  const all = await mounts()
  t.true(all.length > 100)
  for (const { plugin, name, declaration, checks } of all) {
    t.notThrows(() => {
      // An empty body makes the check compile its schema.
      checks.body({})
      for (const schema of Object.values(declaration.responses)) compileSchema(schema as never)
    }, `${name} of ${plugin}`)
  }
})

test('the API of all plugins is valid OpenAPI', async t => {
  const document = openapiDocument(await mounts(), { version: '1.0.0', baseUrl: 'https://data.example.org' })
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  t.true(valid, JSON.stringify(errors))
})
