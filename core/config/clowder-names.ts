import type { Environment } from './environment.ts'

/** What Clowder's compose file says, in our terms. */
export interface ClowderSettings {
  readonly settings: readonly { readonly variable: string; readonly path: readonly string[]; readonly text: string }[]
  /** `RABBITMQ_URI`: the broker to use, whose plugin then takes the place of the queue. */
  readonly broker?: string
  readonly warnings: readonly string[]
}

/** Variables that have a setting of ours. A name that no loaded plugin knows is then warned about, not refused. */
const known: Readonly<Record<string, string>> = {
  CLOWDER_ADMINS: 'admins',
  CLOWDER_COMMKEY: 'resources.users.commKey',
  SMTP_SERVER: 'mail.smtp.host',
}

/** Variables without a meaning here, with what to do about it. */
const explained: Readonly<Record<string, string>> = {
  CLOWDER_SECRET: 'sessions use a random secret that the server makes itself',
  CLOWDER_REGISTER: 'people cannot sign up by themselves in this version',
  CLOWDER_CONTEXT: 'set POUNCE_HTTP__BASE_URL to the whole address instead',
  CLOWDER_SSL: 'set POUNCE_HTTP__BASE_URL to an https address instead',
  CLOWDER_UPDATE: 'set POUNCE_DBUPDATE=1 to apply migrations',
  CLOWDER_PREVIEW: 'previews are made by the plugins in "plugins"',
  MONGO_URI: 'records are kept by the documents plugin named in "plugins"',
  RABBITMQ_EXCHANGE: 'the exchange is fixed',
  RABBITMQ_CLOWDERURL: 'extractors are told POUNCE_HTTP__BASE_URL',
  RABBITMQ_MGMT_URI: 'the broker is asked over AMQP only',
  SMTP_MODE: 'mail is sent by the mail plugin named in "plugins"',
  SMTP_MOCK: 'mail is logged where no mail plugin is named in "plugins"',
  ELASTICSEARCH_SERVICE_SERVER: 'search is done by the search plugin named in "plugins"',
  ELASTICSEARCH_SERVICE_CLUSTERNAME: 'search is done by the search plugin named in "plugins"',
}

const unset = (text: string | undefined): boolean => text === undefined || text === ''

/** Reads the variable names of Clowder 1.x's docker-compose.yml. Whatever has no meaning here is warned about, never dropped in silence. */
export const fromClowder = (environment: Environment, hasSetting: (path: readonly string[]) => boolean): ClowderSettings => {
  const settings: { variable: string; path: readonly string[]; text: string }[] = []
  const warnings: string[] = []
  for (const [variable, name] of Object.entries(known)) {
    const text = environment[variable]
    if (text === undefined || text === '') continue
    const path = name.split('.')
    if (hasSetting(path)) settings.push({ variable, path, text })
    else warnings.push(`${variable} has no effect: no plugin that runs has the setting ${name}`)
  }
  for (const [variable, advice] of Object.entries(explained))
    if (!unset(environment[variable]) && !isHarmless(variable, environment[variable] ?? ''))
      warnings.push(`${variable} has no effect: ${advice}`)
  const broker = environment['RABBITMQ_URI']
  return { settings, warnings, ...(broker === undefined || broker === '' ? {} : { broker }) }
}

/** Values that ask for what happens anyway. */
const isHarmless = (variable: string, text: string): boolean =>
  (variable === 'CLOWDER_CONTEXT' && text === '/') ||
  ((variable === 'CLOWDER_SSL' || variable === 'CLOWDER_REGISTER' || variable === 'CLOWDER_UPDATE') && text.toLowerCase() === 'false')
