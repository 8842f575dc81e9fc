import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Caller, type Contributions, Installation, isServerAdmin, Policy, type Previewer, s, wire } from 'pounce/sdk'
import { didYouMean, type PermissionCatalog, type WebContribution, WebContributions } from 'pounce/sdk/kit'
import { AppBuild } from './app-build.ts'

const kinds: ReadonlySet<string> = new Set(['viewer', 'page', 'admin', 'tab', 'panel', 'action'])
/** Kinds that are shown on the pages of resources. */
const onResources: ReadonlySet<string> = new Set(['tab', 'panel', 'action'])
const pagesWithParts: ReadonlySet<string> = new Set(['dataset', 'file'])
const mediaType = /^[a-z0-9][\w.+-]*\/(?:\*|[a-z0-9][\w.+-]*)$/
const fileName = /^[\w.-]{1,100}$/

/** What a contribution loads: files of its plugin or, for built-in viewers, a module of the build. */
type Source = { readonly built: string } | { readonly module: string; readonly files: readonly string[] }

interface Part {
  readonly declared: WebContribution
  readonly source: Source
}

interface ServedFile {
  readonly path: string
  readonly bytes: Buffer
}

/** Paths of a contribution below the base URL. */
interface Addresses {
  readonly module: string
  readonly styles: readonly string[]
}

export const ContributionJson = s.model(
  'WebContribution',
  s.Object({
    id: s.String(),
    plugin: s.String(),
    kind: s.String({ description: '`viewer`, `page`, `admin`, `tab`, `panel` or `action`' }),
    title: s.String({ description: 'Title in the requested language' }),
    module: s.String({ description: 'Path of an ES module that exports `mount`, below the base URL' }),
    styles: s.Array(s.String(), { description: 'Paths of style sheets to load first' }),
    permission: s.Optional(s.String({ description: 'Required on the resource that the part is shown on' })),
    of: s.Array(s.String(), {
      description: 'Kinds of resources on whose pages the part is shown; for a page, the kinds whose search hits link to it',
    }),
    order: s.Number(),
    texts: s.Record(s.String(), s.String(), { description: 'Texts of the part in the requested language' }),
    viewer: s.Optional(
      s.Object({
        mediaTypes: s.Array(s.String()),
        extensions: s.Array(s.String()),
        maxBytes: s.Integer(),
        trust: s.Union([s.Literal('page'), s.Literal('frame')]),
        asks: s.Optional(s.Boolean({ description: 'Whether the viewer is offered only if `canShow` of its module accepts the file' })),
        rank: s.Number(),
      }),
    ),
  }),
  {
    ...{ id: 'example.spectrum.viewer', plugin: 'example.spectrum', kind: 'viewer', title: 'Spectrum' },
    ...{ module: '/web/parts/3f2a9c04d1b7e856/spectrum.js', styles: [], of: [], order: 0, texts: { peak: 'Peak' } },
    viewer: { mediaTypes: ['chemical/x-jcamp-dx'], extensions: ['jdx'], maxBytes: 10_000_000, trust: 'frame', rank: 60 },
  },
)
type Shown = s.Static<typeof ContributionJson>

const pluginOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('.')))

/** Contributions of plugins to the web interface: validated at startup, listed for pages, and served under a digest of their content. */
export class WebParts {
  readonly #contributions: Contributions<WebContribution>
  readonly #build: AppBuild
  readonly #policy: Policy
  readonly #installation: Installation
  #parts: readonly Part[] = []
  #served: Promise<ReadonlyMap<string, ReadonlyMap<string, ServedFile>>> | undefined
  readonly #digests = new Map<string, string>()

  constructor(contributions: Contributions<WebContribution>, build: AppBuild, policy: Policy, installation: Installation) {
    this.#contributions = contributions
    this.#build = build
    this.#policy = policy
    this.#installation = installation
  }

  /** Contributions are complete before anything starts, so an invalid one aborts the startup. */
  start(): void {
    this.#parts = checked(this.#contributions.all(), this.#installation.permissions)
  }

  /** The current contributions, which change when plugins are switched on or off. */
  #current(): readonly Part[] {
    const contributions = this.#contributions.all()
    if (contributions.length === this.#parts.length && contributions.every((one, at) => one === this.#parts[at]?.declared))
      return this.#parts
    this.#parts = checked(contributions, this.#installation.permissions)
    this.#served = undefined
    return this.#parts
  }

  /** The contributions that the caller may see. Built-in viewers are omitted until they are built. */
  async listFor(caller: Caller, language: string): Promise<readonly Shown[]> {
    const shown = this.#current().filter(({ declared }) => this.#isFor(caller, declared))
    const listed = await Promise.all(shown.map(part => this.#shown(part, language)))
    return listed.filter(one => one !== undefined)
  }

  #isFor(caller: Caller, { kind, permission }: WebContribution): boolean {
    if (kind === 'admin') return isServerAdmin(caller)
    return kind !== 'page' || permission === undefined || this.#policy.can(caller, permission) === 'yes'
  }

  async #shown({ declared, source }: Part, language: string): Promise<Shown | undefined> {
    const addresses = await this.#addresses(declared.id, source)
    if (!addresses) return undefined
    const { id, kind, title, permission, of = [], order = 0, texts = {}, viewer } = declared
    return {
      ...{ id, plugin: pluginOf(id), kind, title: title[language] ?? title.en, ...addresses, styles: [...addresses.styles] },
      ...(permission === undefined ? {} : { permission }),
      ...{ of: [...of], order, texts: { ...texts['en'], ...texts[language] } },
      ...(viewer ? { viewer: { ...viewer, mediaTypes: [...viewer.mediaTypes], extensions: [...viewer.extensions] } } : {}),
    }
  }

  async #addresses(id: string, source: Source): Promise<Addresses | undefined> {
    if ('built' in source) {
      const state = await this.#build.state()
      const chunk = typeof state === 'string' ? undefined : state.modules.get(source.built)
      return chunk && { module: `/web/${chunk.script}`, styles: chunk.styles.map(file => `/web/${file}`) }
    }
    await this.#files()
    const at = (path: string): string => `/web/parts/${this.#digests.get(id)}/${basename(path)}`
    return { module: at(source.module), styles: source.files.filter(path => path.endsWith('.css')).map(at) }
  }

  /** The path of the module of the viewer for the media types of a previewer; undefined if there is none. */
  async moduleFor({ mediaTypes }: Previewer): Promise<string | undefined> {
    const fitting = this.#current()
      .filter(({ declared }) => declared.viewer?.mediaTypes.some(type => mediaTypes.some(other => overlaps(type, other))))
      .sort((one, other) => (other.declared.viewer?.rank ?? 0) - (one.declared.viewer?.rank ?? 0))
    for (const { declared, source } of fitting) {
      const addresses = await this.#addresses(declared.id, source)
      if (addresses) return addresses.module
    }
    return undefined
  }

  /** A file of a contribution. The digest covers all files of the contribution, so the content at a path never changes. */
  async file(digest: string, name: string): Promise<ServedFile | undefined> {
    return (await this.#files()).get(digest)?.get(name)
  }

  #files(): Promise<ReadonlyMap<string, ReadonlyMap<string, ServedFile>>> {
    const parts = this.#current()
    this.#served ??= this.#readFiles(parts).catch((error: unknown) => {
      this.#served = undefined
      throw error
    })
    return this.#served
  }

  async #readFiles(parts: readonly Part[]): Promise<ReadonlyMap<string, ReadonlyMap<string, ServedFile>>> {
    const all = new Map<string, ReadonlyMap<string, ServedFile>>()
    for (const { declared, source } of parts) {
      if ('built' in source) continue
      const files = new Map<string, ServedFile>()
      const digest = createHash('sha256')
      for (const path of source.files) {
        const bytes = await readFile(path)
        files.set(basename(path), { path, bytes })
        digest.update(`${basename(path)}\0${bytes.length}\0`).update(bytes)
      }
      const name = digest.digest('hex').slice(0, 32)
      all.set(name, files)
      this.#digests.set(declared.id, name)
    }
    return all
  }
}
wire(WebParts, WebContributions, AppBuild, Policy, Installation)

const overlaps = (one: string, other: string): boolean =>
  one === other ||
  (one.endsWith('/*') && other.startsWith(one.slice(0, -1))) ||
  (other.endsWith('/*') && one.startsWith(other.slice(0, -1)))

const checked = (contributions: readonly WebContribution[], permissions: PermissionCatalog): readonly Part[] => {
  const ids = new Set<string>()
  return contributions.map(declared => {
    const { id } = declared
    const refuse = (member: string, rule: string): never => {
      throw new Error(`Web contribution ${id}: ${member} ${rule}`)
    }
    if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(id)) refuse('id', 'must be the id of the plugin, a dot and a name of its own')
    if (ids.has(id)) refuse('id', 'is contributed twice')
    ids.add(id)
    requireMembers(declared, refuse)
    const { permission } = declared
    if (permission !== undefined && !permissions.has(permission))
      refuse('permission', `has ${permission}, which no plugin declares${didYouMean(permission, permissions.names)}`)
    return { declared, source: sourceOf(declared, refuse) }
  })
}

type Refuse = (member: string, rule: string) => never

const requireMembers = ({ kind, title, of = [], viewer }: WebContribution, refuse: Refuse): void => {
  if (!kinds.has(kind)) refuse('kind', `must be one of ${[...kinds].join(', ')}`)
  if (!title?.en) refuse('title', 'must have a text for `en`')
  if (kind !== 'page' && onResources.has(kind) !== of.length > 0)
    refuse('of', 'must name kinds of resources for tabs, panels and actions; optional for pages')
  const elsewhere = kind === 'page' ? undefined : of.find(one => !pagesWithParts.has(one))
  if (elsewhere !== undefined) refuse('of', `has ${elsewhere}: parts are shown on the pages of ${[...pagesWithParts].join(' and ')}`)
  if ((kind === 'viewer') !== (viewer !== undefined)) refuse('viewer', 'must be set for viewers, and only for them')
  if (!viewer) return
  for (const list of ['mediaTypes', 'extensions'] as const)
    if (!Array.isArray(viewer[list])) refuse(`viewer.${list}`, 'must be a list; it may be empty')
  const wrongType = viewer.mediaTypes.find(type => !mediaType.test(type))
  if (wrongType !== undefined) refuse('viewer.mediaTypes', `has ${wrongType}, which is not a lower-case media type`)
  const wrongEnding = viewer.extensions.find(extension => !/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(extension))
  if (wrongEnding !== undefined) refuse('viewer.extensions', `has ${wrongEnding}: must be lower case, without a leading dot`)
  if (viewer.mediaTypes.length + viewer.extensions.length === 0) refuse('viewer', 'must name media types or extensions')
  if (!(Number.isSafeInteger(viewer.maxBytes) && viewer.maxBytes > 0)) refuse('viewer.maxBytes', 'must be a whole number of bytes')
  if (viewer.trust !== 'page' && viewer.trust !== 'frame') refuse('viewer.trust', 'must be `page` or `frame`')
  if (viewer.asks && viewer.trust === 'frame') refuse('viewer.asks', 'requires trust `page`')
  if (!Number.isFinite(viewer.rank)) refuse('viewer.rank', 'must be a number')
}

const sourceOf = ({ id, module, assets = [] }: WebContribution, refuse: Refuse): Source => {
  if (typeof module === 'string' && pluginOf(id) === 'web') return { built: module }
  const paths = [module, ...assets].map((file, at) => {
    const member = at === 0 ? 'module' : 'assets'
    const url = URL.parse(String(file))
    if (url?.protocol !== 'file:')
      return refuse(member, "must be a file: the URL of `./viewer.js` relative to the URL of the plugin's own module")
    const path = fileURLToPath(url)
    if (!existsSync(path)) refuse(member, `names ${path}, which does not exist`)
    if (!fileName.test(basename(path))) refuse(member, `names ${basename(path)}: letters, digits, dots, hyphens and underscores only`)
    return path
  })
  const [path = ''] = paths
  const elsewhere = paths.find(each => dirname(each) !== dirname(path))
  if (elsewhere !== undefined) refuse('assets', `names ${elsewhere}, which is not in the folder of the module`)
  if (!/\.m?js$/.test(path)) refuse('module', 'must be JavaScript: a file that ends in .js or .mjs')
  return { module: path, files: [...new Set(paths)] }
}
