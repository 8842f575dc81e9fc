import test from 'ava'
import { loadConfig } from '../core/kernel/config.ts'

const basePlugins = ['compat.clowder']

test("the variables of Clowder's compose file take effect or cause a warning", async t => {
  const environment = {
    CLOWDER_ADMINS: 'a@example.org,b@example.org',
    CLOWDER_SECRET: 'x',
    CLOWDER_CONTEXT: '/',
    CLOWDER_SSL: 'true',
    MONGO_URI: 'mongodb://m',
  }
  const config = await loadConfig({ defaults: { basePlugins }, environment })
  t.deepEqual(config.kernel.admins, ['a@example.org', 'b@example.org'])
  t.deepEqual(
    config.warnings.map(warning => warning.split(' ')[0]),
    ['MONGO_URI', 'CLOWDER_SECRET', 'CLOWDER_SSL'],
  )
})

test('RABBITMQ_URI enables the broker in addition to the queue, and its other variables then apply', async t => {
  const environment = {
    RABBITMQ_URI: 'amqp://guest:guest@rabbitmq/%2f',
    RABBITMQ_EXCHANGE: 'own',
    RABBITMQ_MGMT_URI: 'http://guest:guest@rabbitmq:15672',
  }
  const defaults = { basePlugins, plugins: ['transport.queue'] }
  const { plugins, warnings } = await loadConfig({ defaults, environment })
  t.deepEqual(
    plugins.slice(0, 2).map(({ name }) => name),
    ['transport.queue', 'transport.rabbitmq'],
  )
  t.like(plugins[1]?.config, { uri: environment.RABBITMQ_URI, exchange: 'own', managementUrl: environment.RABBITMQ_MGMT_URI })
  t.deepEqual(warnings, [])
  const without = await loadConfig({ defaults, environment: { RABBITMQ_EXCHANGE: 'own' } })
  t.deepEqual(without.warnings, ['RABBITMQ_EXCHANGE has no effect: it requires RABBITMQ_URI'])
})

test('variables of Clowder stores apply if their plugin is enabled, and cause a warning otherwise', async t => {
  const environment = { ELASTICSEARCH_SERVICE_SERVER: 'elasticsearch', ELASTICSEARCH_SERVICE_CLUSTERNAME: 'clowder' }
  const defaults = { basePlugins, plugins: ['search.fts'] }
  const { plugins } = await loadConfig({ defaults, environment: { ...environment, POUNCE_REPLACE_PLUGINS: 'search.elasticsearch' } })
  t.like(plugins[0]?.config, { nodes: ['http://elasticsearch:9200'] })
  const { warnings } = await loadConfig({ defaults, environment })
  t.is(
    warnings[0],
    'ELASTICSEARCH_SERVICE_SERVER has no effect: the index is stored in the data folder; POUNCE_REPLACE_PLUGINS=search.elasticsearch stores it in Elasticsearch',
  )
})

test('the variables apply to any list of plugins, but not without base plugins', async t => {
  const environment = { CLOWDER_ADMINS: 'a@example.org' }
  t.deepEqual((await loadConfig({ settings: { plugins: [] }, environment })).kernel.admins, ['a@example.org'])
  t.deepEqual((await loadConfig({ settings: { plugins: [], basePlugins: [] }, environment })).kernel.admins, [])
})
