import {
  type Caller,
  Clock,
  type Contributions,
  Installation,
  isSuperAdmin,
  type Permission,
  Policy,
  ReadAccess,
  SessionSources,
  type Site,
  Sites,
  type Stored,
  s,
  UnreadCounts,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import {
  type AccountSummary,
  type Capabilities,
  type CapabilityPart,
  fullNameOf,
  licenseChoices,
  ReadAccessOrigin,
  type SessionSource,
  type UnreadCount,
} from 'pounce/sdk/kit'
import { AccountAdministration } from './account-administration.ts'
import { ClientPreferences, PreferencesJson, type PreferenceValues } from './preferences.ts'
import { avatarOf } from './user-json.ts'

const orNull = <T extends s.TSchema>(schema: T) => s.Union([schema, s.Null()])

const count = () => s.Optional(s.Integer({ description: 'Counted up to 100; absent if no plugin stores them' }))

const trash = () => orNull(s.Object({ clearAfterDays: s.Integer({ description: '0: never' }) }))

const SessionUser = s.model(
  'SessionUser',
  s.Object({
    ...{ id: s.id(), firstName: s.String(), lastName: s.String(), fullName: s.String(), email: s.String(), avatar: s.String() },
    status: s.Union([s.Literal('Active'), s.Literal('Inactive'), s.Literal('ReadOnly'), s.Literal('Admin')]),
    superAdmin: s.Boolean({ description: 'Superadmin mode is on' }),
    via: s.String({ description: 'How the request is authenticated: `session`, `key`, `basic`, `bearer` or `proxy`' }),
    isLimited: s.Boolean({ description: 'True for a limited or extraction key, which has no storage, counts and preferences' }),
    termsPending: s.Boolean({ description: 'The terms of service must be accepted first' }),
    secondFactorPending: s.Boolean({ description: 'A second factor must be enrolled first' }),
    rights: s.Array(s.String(), { description: 'Permissions that need no resource, such as `CreateSpace`' }),
    storage: orNull(
      s.Object(
        { usedBytes: s.Integer(), maxBytes: s.Integer(), usedFiles: s.Integer(), maxFiles: s.Integer() },
        { description: 'A limit of 0 means no limit. Null if nothing is counted' },
      ),
    ),
    counts: s.Object({ invitations: count(), requests: count(), notifications: count() }),
  }),
  {
    ...{ id: '5b2a1c8e4f0c2d3a6b7e9f10', firstName: 'Ada', lastName: 'Lovelace', fullName: 'Ada Lovelace', email: 'ada@example.org' },
    ...{ avatar: 'https://data.example.org/api/avatars/AL-6', status: 'Active', superAdmin: false, via: 'session', isLimited: false },
    ...{ termsPending: false, secondFactorPending: false, rights: ['CreateSpace', 'CreateDataset'], storage: null },
    counts: { invitations: 1, requests: 0, notifications: 3 },
  },
)

const CapabilitiesJson = s.model(
  'Capabilities',
  s.Object({
    signUp: s.Union([s.Literal('open'), s.Literal('approval'), s.Literal('off')], {
      description: '`approval`: a server admin activates new accounts',
    }),
    mail: s.Boolean({ description: 'False if no mail plugin is loaded and emails are written to the log' }),
    private: s.Boolean({ description: 'Sign-in is required for reading' }),
    accessOrigin: ReadAccessOrigin,
    anonymousDownload: s.Boolean({ description: 'Everyone may download what they may view' }),
    uploads: s.Object({
      resumable: orNull(
        s.Object({ path: s.String(), maxBytes: s.Integer(), maxOpen: s.Integer(), expireHours: s.Number() }, { description: 'tus 1.0.0' }),
      ),
      maxUrlBytes: orNull(s.Integer({ description: 'Of a file from a URL' })),
    }),
    trash: s.Object({ datasets: trash(), collections: trash() }, { description: 'Null: deletion is permanent' }),
    live: orNull(s.String({ description: 'Path of the stream of live events' })),
    geostreams: s.Boolean(),
    search: orNull(s.Object({ maxQueryLength: s.Integer(), maxPageSize: s.Integer(), maxOffset: s.Integer() })),
    licenses: s.Array(s.Object({ type: s.String(), text: s.String(), url: s.String() })),
    setupPending: s.Boolean({ description: 'There is no server admin yet: the setup link is in the log of the server' }),
    providers: s.String({ description: 'Path of the list of sign-in providers' }),
  }),
  {
    ...{ signUp: 'approval', mail: true, private: false, accessOrigin: 'admin', anonymousDownload: false },
    uploads: {
      resumable: { path: '/api/uploads', maxBytes: 10_995_116_277_760, maxOpen: 100, expireHours: 168 },
      maxUrlBytes: 1_099_511_627_776,
    },
    trash: { datasets: { clearAfterDays: 30 }, collections: { clearAfterDays: 0 } },
    ...{ live: '/api/live', geostreams: true, search: { maxQueryLength: 10_000, maxPageSize: 1000, maxOffset: 10_000 } },
    licenses: [{ type: 'license2', text: 'Attribution', url: 'https://creativecommons.org/licenses/by/4.0/' }],
    ...{ setupPending: false, providers: '/api/login/providers' },
  },
)

const SessionSite = s.model(
  'SessionSite',
  s.Object({
    name: s.String(),
    welcome: s.String({ description: 'May contain HTML, to be sanitized' }),
    terms: s.Boolean({ description: 'There are terms of service: see `GET /api/configuration`' }),
    termsChanged: orNull(s.String()),
    sensors: s.String(),
    sensor: s.String(),
    parameters: s.String(),
    parameter: s.String(),
    version: s.String(),
  }),
  {
    ...{ name: 'Soil samples', welcome: 'Welcome to our data.', terms: true, termsChanged: '2026-03-01T09:00:00.000Z' },
    ...{ sensors: 'Sensors', sensor: 'Sensor', parameters: 'Parameters', parameter: 'Parameter', version: '1.0.0' },
  },
)

/** Initial data for a client. */
export const SessionState = s.model(
  'SessionState',
  s.Object({
    user: orNull(SessionUser),
    site: SessionSite,
    capabilities: CapabilitiesJson,
    preferences: PreferencesJson,
    time: s.String({ format: 'date-time', description: 'The current time of the server, such as for `since` of `GET /api/live`' }),
  }),
)

type SessionState = s.Static<typeof SessionState>

/** Permissions that are not about a single resource. */
const unscopedRights: readonly Permission[] = [
  'CreateSpace',
  'CreateCollection',
  'CreateDataset',
  'AddFile',
  'CreateSensor',
  'CreateVocabulary',
]

const nothing: Capabilities = {
  signUp: 'off',
  mail: false,
  anonymousDownload: false,
  uploads: { resumable: null, maxUrlBytes: null },
  trash: { datasets: null, collections: null },
  live: null,
  geostreams: false,
  search: null,
}

const added = (known: Capabilities, { uploads, trash, ...rest }: CapabilityPart): Capabilities => ({
  ...known,
  ...(rest as Partial<Capabilities>),
  uploads: { ...known.uploads, ...uploads },
  trash: { ...known.trash, ...trash },
})

/** The account, the site and the features, for clients. */
export class SessionView {
  readonly #installation: Installation
  readonly #users: Users
  readonly #accounts: AccountAdministration
  readonly #preferences: ClientPreferences
  readonly #policy: Policy
  readonly #access: ReadAccess
  readonly #sites: Contributions<Site>
  readonly #unread: Contributions<UnreadCount>
  readonly #sources: Contributions<SessionSource>
  readonly #clock: Clock
  /** Once there is an admin, there always is one. */
  #hasAdmin = false

  constructor(
    installation: Installation,
    users: Users,
    accounts: AccountAdministration,
    preferences: ClientPreferences,
    policy: Policy,
    access: ReadAccess,
    sites: Contributions<Site>,
    unread: Contributions<UnreadCount>,
    sources: Contributions<SessionSource>,
    clock: Clock,
  ) {
    this.#installation = installation
    this.#users = users
    this.#accounts = accounts
    this.#preferences = preferences
    this.#policy = policy
    this.#access = access
    this.#sites = sites
    this.#unread = unread
    this.#sources = sources
    this.#clock = clock
  }

  async of(caller: Caller): Promise<SessionState> {
    const time = this.#clock.now().toISOString()
    const record = caller.user && (await this.#users.get(caller.user.id))
    const isWhole = record !== undefined && isWholeAccount(caller)
    const [user, site, capabilities, preferences] = await Promise.all([
      record ? this.#user(record, caller, isWhole) : null,
      this.#site(),
      this.#capabilities(),
      isWhole ? this.#preferences.of(record.id) : ({} satisfies PreferenceValues),
    ])
    return { user, site, capabilities, preferences, time }
  }

  async #user(record: UserRecord & Stored, caller: Caller, isWhole: boolean): Promise<SessionState['user']> {
    const { id, firstName, lastName, email, status } = record
    const { storage = null, counts } = isWhole ? await this.#summary(record, caller) : {}
    return {
      ...{ id, firstName, lastName, fullName: fullNameOf(record), email, avatar: avatarOf(record, this.#installation.baseUrl), status },
      ...{ superAdmin: isSuperAdmin(caller), via: caller.via, isLimited: caller.scope !== 'full' || caller.limits !== undefined },
      termsPending: caller.user?.termsPending ?? false,
      secondFactorPending: caller.user?.secondFactorPending ?? false,
      rights: unscopedRights.filter(right => this.#policy.can(caller, right) === 'yes'),
      storage,
      counts: { ...counts },
    }
  }

  async #summary(record: UserRecord & Stored, caller: Caller): Promise<AccountSummary> {
    const [inbox] = this.#unread.all()
    const [notifications, ...summaries] = await Promise.all([
      inbox?.unread(record.id),
      ...this.#sources.all().map(source => source.summaryOf?.(record, caller)),
    ])
    const storage = summaries.find(each => each?.storage)?.storage
    const counts = Object.assign({}, ...summaries.map(each => each?.counts), notifications === undefined ? {} : { notifications })
    return { ...(storage ? { storage } : {}), counts }
  }

  async #site(): Promise<SessionState['site']> {
    const settings = await this.#sites.all()[0]?.settings()
    return {
      name: settings?.displayName ?? 'Pounce',
      welcome: settings?.welcomeMessage ?? '',
      terms: (settings?.tosText ?? '') !== '',
      termsChanged: settings?.tosChanged ?? null,
      sensors: settings?.sensors ?? 'Sensors',
      sensor: settings?.sensor ?? 'Sensor',
      parameters: settings?.parameters ?? 'Parameters',
      parameter: settings?.parameter ?? 'Parameter',
      version: this.#installation.version,
    }
  }

  async #capabilities(): Promise<SessionState['capabilities']> {
    const { uploads, trash, search, ...flat } = this.#sources
      .all()
      .reduce((known, source) => added(known, source.capabilities ?? {}), nothing)
    this.#hasAdmin ||= await this.#accounts.hasAdmin()
    return {
      ...flat,
      uploads: { ...uploads },
      trash: { ...trash },
      search: search && { ...search },
      private: this.#access.isPrivate,
      accessOrigin: this.#access.origin,
      licenses: licenseChoices().map(choice => ({ ...choice })),
      setupPending: !this.#hasAdmin,
      providers: '/api/login/providers',
    }
  }
}
wire(
  SessionView,
  Installation,
  Users,
  AccountAdministration,
  ClientPreferences,
  Policy,
  ReadAccess,
  Sites,
  UnreadCounts,
  SessionSources,
  Clock,
)

/** False for limited keys and for accounts pending a required step: these get only the identity of the account. */
const isWholeAccount = ({ scope, limits, user }: Caller): boolean =>
  scope === 'full' && limits === undefined && !user?.termsPending && !user?.secondFactorPending
