import type { Environment } from './environment.ts'

/** What Clowder's compose file says, in our terms. */
export interface ClowderSettings {
  readonly settings: readonly { readonly variable: string; readonly path: readonly string[]; readonly text: string }[]
  readonly warnings: readonly string[]
}

/** A setting of ours for a variable of Clowder's. */
interface Known {
  readonly name: string
  /** What to do where no plugin that runs has the setting. */
  readonly otherwise?: string
  /** Our way to write the value. */
  readonly text?: (text: string) => string
}

const withBroker = 'it counts together with RABBITMQ_URI'

const known: Readonly<Record<string, Known>> = {
  CLOWDER_ADMINS: { name: 'admins' },
  CLOWDER_COMMKEY: { name: 'resources.users.commKey' },
  SMTP_SERVER: { name: 'mail.smtp.host' },
  RABBITMQ_URI: { name: 'transport.rabbitmq.uri' },
  RABBITMQ_EXCHANGE: { name: 'transport.rabbitmq.exchange', otherwise: withBroker },
  RABBITMQ_MGMT_URI: { name: 'transport.rabbitmq.managementUrl', otherwise: withBroker },
  RABBITMQ_CLOWDERURL: { name: 'resources.extractions.clowderUrl' },
  MONGO_URI: {
    name: 'documents.mongodb.uri',
    otherwise: 'records are kept in the data folder; POUNCE_USE=documents.mongodb keeps them in MongoDB',
  },
  ELASTICSEARCH_SERVICE_SERVER: {
    name: 'search.elasticsearch.nodes',
    otherwise: 'the index is kept in the data folder; POUNCE_USE=search.elasticsearch keeps it in Elasticsearch',
    // Clowder names a host and speaks the transport protocol of old; over HTTP it is port 9200.
    text: text => (/^https?:/.test(text) ? text : `http://${text.replace(/:9300$/, '')}${/:(?!9300$)\d+$/.test(text) ? '' : ':9200'}`),
  },
}

/** Variables without a meaning here, with what to do about it. */
const explained: Readonly<Record<string, string>> = {
  CLOWDER_SECRET: 'sessions use a random secret that the server makes itself',
  CLOWDER_REGISTER: 'set POUNCE_AUTH__LOCAL__REGISTER_THROUGH_ADMINS to say whether admins approve those who sign up',
  CLOWDER_CONTEXT: 'set POUNCE_HTTP__BASE_URL to the whole address instead',
  CLOWDER_SSL: 'set POUNCE_HTTP__BASE_URL to an https address instead',
  CLOWDER_UPDATE: 'set POUNCE_DBUPDATE=1 to apply migrations',
  CLOWDER_PREVIEW: 'previews are made by the plugins in "plugins"',
  SMTP_MODE: 'mail is sent by the mail plugin named in "plugins"',
  SMTP_MOCK: 'mail is logged where no mail plugin is named in "plugins"',
  ELASTICSEARCH_SERVICE_CLUSTERNAME: 'a cluster is known by its addresses, POUNCE_SEARCH__ELASTICSEARCH__NODES',
}

const given = (environment: Environment, variable: string): string | undefined => environment[variable] || undefined

/** `RABBITMQ_URI`: the broker to use. */
export const brokerOf = (environment: Environment): string | undefined => given(environment, 'RABBITMQ_URI')

/** Reads the variable names of Clowder 1.x's docker-compose.yml. Whatever has no meaning here is warned about, never dropped in silence. */
export const fromClowder = (environment: Environment, hasSetting: (path: readonly string[]) => boolean): ClowderSettings => {
  const settings: { variable: string; path: readonly string[]; text: string }[] = []
  const warnings: string[] = []
  for (const [variable, { name, otherwise, text: ours }] of Object.entries(known)) {
    const text = given(environment, variable)
    if (text === undefined) continue
    const path = name.split('.')
    if (hasSetting(path)) settings.push({ variable, path, text: ours ? ours(text) : text })
    else warnings.push(`${variable} has no effect: ${otherwise ?? `no plugin that runs has the setting ${name}`}`)
  }
  for (const [variable, advice] of Object.entries(explained)) {
    const text = given(environment, variable)
    if (text !== undefined && !isHarmless(variable, text)) warnings.push(`${variable} has no effect: ${advice}`)
  }
  return { settings, warnings }
}

/** Values that ask for what happens anyway. */
const isHarmless = (variable: string, text: string): boolean =>
  (variable === 'CLOWDER_CONTEXT' && text === '/') ||
  ((variable === 'CLOWDER_SSL' || variable === 'CLOWDER_UPDATE') && text.toLowerCase() === 'false')
