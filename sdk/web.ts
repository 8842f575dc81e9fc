import type { Kind } from './model/kind.ts'
import type { Permission } from './model/permission.ts'
import { unknownMember } from './plugin-members.ts'
import { type Contributions, contributions, type Port, type Provision, provide } from './port.ts'

/** A text per language. English is required and is the fallback. */
export type WebText = Readonly<Record<string, string>> & { readonly en: string }

/** Which files a viewer shows. */
export interface ViewerRange {
  /** Media types of two parts, the second possibly `*`; compared without parameters. */
  readonly mediaTypes: readonly string[]
  /** File name extensions, in lower case without a dot, for files with an unspecific media type; also whole names, such as `makefile`. */
  readonly extensions: readonly string[]
  /** Not offered for larger files. */
  readonly maxBytes: number
  /**
   * `page`: runs in the page itself, with the rights of the current user. `frame`: runs in a sandboxed frame without origin and network, and has access only to
   * the bytes that it was mounted for.
   */
  readonly trust: 'page' | 'frame'
  /**
   * The module exports `canShow` and is loaded to call it before the viewer is offered. Without it the viewer is offered wherever type and size match. Not for
   * frames, which report at mount that there is nothing to show.
   */
  readonly asks?: boolean
  /** If several viewers match, the one with the highest rank is shown first. Plain text has 10, images have 50. */
  readonly rank: number
}

/**
 * Where a contribution appears in the web interface: `viewer` for files and previews; `page` at its own address with a link in the header; `admin` is a page
 * for server admins; `tab`, `panel` (in the margin) and `action` (in the menu, shown in a dialog) on the pages of resources.
 */
export type WebContributionKind = 'viewer' | 'page' | 'admin' | 'tab' | 'panel' | 'action'

/** What a plugin adds to the web interface. Only data; the code is in `module` and runs in the browser. */
export interface WebContribution {
  /** The id of the plugin, a dot, and a name of lower-case letters, digits and hyphens: `example.spectrum.viewer`. */
  readonly id: string
  readonly kind: WebContributionKind
  readonly title: WebText
  /** An ES module in the plugin's folder that exports `mount` and optionally `canShow`: see `MountedPart`. */
  readonly module: string | URL
  /** Further files that the module loads, in the same folder: `new URL('./x.wasm', import.meta.url)`. Style sheets are loaded before mounting. */
  readonly assets?: readonly (string | URL)[]
  /** Required to show the contribution: on the resource it is about or, for pages, on none. */
  readonly permission?: Permission
  /**
   * Kinds of resources that tabs, panels and actions appear on: `dataset` and `file`. For a page: plugin-defined kinds whose search hits link to it, with the
   * id as `ViewerHost.state`; the header then has no link to the page.
   */
  readonly of?: readonly Kind[]
  /** Lower numbers come first. */
  readonly order?: number
  /** Texts for `ViewerHost.t`, by language and key. */
  readonly texts?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Required for viewers. */
  readonly viewer?: ViewerRange
}
/** The contributions of plugins to the web interface. */
export const WebContributions: Port<Contributions<WebContribution>> = contributions<WebContribution>('webContributions')

const members: Readonly<Record<keyof WebContribution, true>> = {
  id: true,
  kind: true,
  title: true,
  module: true,
  assets: true,
  permission: true,
  of: true,
  order: true,
  texts: true,
  viewer: true,
}

const viewerMembers: Readonly<Record<keyof ViewerRange, true>> = {
  mediaTypes: true,
  extensions: true,
  maxBytes: true,
  trust: true,
  asks: true,
  rank: true,
}

/**
 * A contribution to the web interface, for `provides`: `provides: [webContribution({ id: 'example.spectrum.viewer', … })]`. Throws if it has an unknown member;
 * the server checks the values.
 */
export const webContribution = (declared: WebContribution): Provision => {
  const fault =
    unknownMember(Object.keys(declared), Object.keys(members), 'a web contribution') ??
    unknownMember(Object.keys(declared.viewer ?? {}), Object.keys(viewerMembers), '`viewer`')
  if (fault !== undefined) throw new Error(`Web contribution ${declared.id}: ${fault}`)
  return provide(
    WebContributions,
    class implements WebContribution {
      readonly id = declared.id
      readonly kind = declared.kind
      readonly title = declared.title
      readonly module = declared.module

      constructor() {
        Object.assign(this, declared)
      }
    },
  )
}

/** The subject of a mounted contribution: a file, a preview, another resource, or for pages the page itself. */
export interface PartSubject {
  readonly kind: Kind | 'page'
  readonly id: string
  readonly name: string
  /** Empty if there are no bytes. */
  readonly contentType: string
  readonly sizeBytes: number
  readonly datasetId?: string
  readonly folderId?: string
  /** The user's permissions on it. */
  readonly rights: readonly Permission[]
}

/** The API that the page offers to mounted contributions. Version 1: members may be added but not removed. */
export interface ViewerHost {
  readonly version: 1
  readonly thing: PartSubject
  /** URL of the bytes, on the page's origin; empty in a frame. */
  readonly url: string
  /**
   * Bytes from `start` up to but excluding `end`, fewer at the end of the file. Rejects with a message for the user, in an error named `RequestFailed` if the
   * server refused or could not be reached.
   */
  read(start: number, end: number): Promise<Uint8Array>
  /** Calls the API and resolves to its JSON: `api('/api/files/…')`. Rejects in a frame, and with the server's message on an error response. */
  api(path: string, init?: RequestInit): Promise<unknown>
  /** The language of the page, such as `en`. */
  readonly language: string
  /** A text of the contribution in the page's language, with values for `{{name}}`. */
  t(key: string, values?: Readonly<Record<string, unknown>>): string
  toast(text: string): void
  /** Opens another page of the interface: `/files/…`. */
  navigate(path: string): void
  /** One string of state, kept in the page's URL so that links lead to the same view. */
  readonly state: { get(): string | undefined; set(value: string | undefined): void }
  /** For libraries that insert `<style>` elements. */
  readonly nonce: string
  /** Aborted when the part is unmounted. */
  readonly signal: AbortSignal
}

/** `HTMLElement` if the DOM types are loaded, otherwise `object`. */
export type PartElement = typeof globalThis extends { readonly HTMLElement: { readonly prototype: infer E } } ? E : object

/** The exports of a contribution's module. */
export interface MountedPart {
  /** Whether there is anything to show; called before a tab is rendered. Absent: always. */
  canShow?(thing: PartSubject, host: ViewerHost): boolean | Promise<boolean>
  /** Renders into an empty element and returns a cleanup function. Rejects with a message for the user if nothing can be shown. */
  mount(element: PartElement, host: ViewerHost): (() => void) | Promise<() => void>
}
