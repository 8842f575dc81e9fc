import type { Kind } from './model/kind.ts'
import type { Permission } from './model/permission.ts'
import { type Contributions, contributions, type Port, type Provision, provide } from './port.ts'

/** A text by language. English is required; it is shown where a language has none. */
export type WebText = Readonly<Record<string, string>> & { readonly en: string }

/** Which files a viewer shows. */
export interface ViewerRange {
  /** Media types of two parts, the second one possibly `*`; those of the file without parameters. */
  readonly mediaTypes: readonly string[]
  /** Endings of names, without a dot and in lower case, for files whose media type says nothing. */
  readonly extensions: readonly string[]
  /** Larger files are not offered to it. */
  readonly maxBytes: number
  /**
   * `page`: runs as part of the page, with the rights of the person who looks. `frame`: runs in a sandboxed frame without origin and network, and sees
   * only the bytes that it was mounted for.
   */
  readonly trust: 'page' | 'frame'
  /**
   * The module exports `canShow`, and is loaded to be asked before it is offered. Without it the viewer is offered wherever type and size fit. Not for
   * frames: they say when they are shown that there is nothing.
   */
  readonly asks?: boolean
  /** Of several viewers the one with the highest rank is shown first. Plain text has 10, pictures have 50. */
  readonly rank: number
}

/**
 * Where something is shown in the web interface: `viewer` for files and previews; `page` at an address of its own, with a link in the header, and `admin`
 * the same for server administrators; `tab`, `panel` (in the margin) and `action` (in the menu, shown in a dialog) on the pages of resources.
 */
export type WebContributionKind = 'viewer' | 'page' | 'admin' | 'tab' | 'panel' | 'action'

/** What a plugin adds to the web interface. Data only; the code is in `module`, and runs in the browser. */
export interface WebContribution {
  /** The id of the plugin, a dot, and a name of lower-case letters, digits and hyphens: `example.spectrum.viewer`. */
  readonly id: string
  readonly kind: WebContributionKind
  readonly title: WebText
  /** An ES module in the plugin's folder that exports `mount`, and possibly `canShow`: see `MountedPart`. */
  readonly module: string | URL
  /** Further files that the module loads, in the same folder: `new URL('./x.wasm', import.meta.url)`. Style sheets are loaded before it is mounted. */
  readonly assets?: readonly (string | URL)[]
  /** Without it the part is not shown: on the resource it is about, or, for pages, without one. */
  readonly permission?: Permission
  /**
   * Kinds of resources that tabs, panels and actions are shown on: `dataset` and `file`. Of a page, kinds of plugins whose search hits lead to it, with the
   * id as `ViewerHost.state`; it has no link in the header.
   */
  readonly of?: readonly Kind[]
  /** Lower ones come first. */
  readonly order?: number
  /** Texts for `ViewerHost.t`, by language and key. */
  readonly texts?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Required for viewers. */
  readonly viewer?: ViewerRange
}
/** Plugins with parts of the web interface. */
export const WebContributions: Port<Contributions<WebContribution>> = contributions<WebContribution>('webContributions')

/** A contribution to the web interface, for `provides`: `provides: [webContribution({ id: 'example.spectrum.viewer', … })]`. */
export const webContribution = (declared: WebContribution): Provision =>
  provide(
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

/** What a part is about: a file, a preview of one, another resource, or for pages the page itself. */
export interface PartSubject {
  readonly kind: Kind | 'page'
  readonly id: string
  readonly name: string
  /** Empty for what has no bytes. */
  readonly contentType: string
  readonly sizeBytes: number
  readonly datasetId?: string
  readonly folderId?: string
  /** Permissions that the person holds on it. */
  readonly rights: readonly Permission[]
}

/** What the page does for a part. Version 1: members may be added to it, and none is removed. */
export interface ViewerHost {
  readonly version: 1
  readonly thing: PartSubject
  /** Address of the bytes, of the origin of the page; empty in a frame. */
  readonly url: string
  /** Bytes from `start` to before `end`, no more than there are. Rejects with a message for the person. */
  read(start: number, end: number): Promise<Uint8Array>
  /** Calls the API and resolves with its JSON: `api('/api/files/…')`. Rejects in a frame, and with the server's message where it refuses. */
  api(path: string, init?: RequestInit): Promise<unknown>
  /** Of the page, such as `en`. */
  readonly language: string
  /** A text of the contribution in the language of the page, with values for `{{name}}`. */
  t(key: string, values?: Readonly<Record<string, unknown>>): string
  toast(text: string): void
  /** Opens another page of the interface: `/files/…`. */
  navigate(path: string): void
  /** One text of the part in the address of the page, so that links lead to what is shown. */
  readonly state: { get(): string | undefined; set(value: string | undefined): void }
  /** For libraries that insert `<style>` elements. */
  readonly nonce: string
  /** Aborted when the part is unmounted. */
  readonly signal: AbortSignal
}

/** An `HTMLElement` where the types of the DOM are loaded. */
export type PartElement = typeof globalThis extends { readonly HTMLElement: { readonly prototype: infer E } } ? E : object

/** What the module of a contribution exports. */
export interface MountedPart {
  /** Whether there is anything to show; asked before a tab is drawn. Absent: yes. */
  canShow?(thing: PartSubject, host: ViewerHost): boolean | Promise<boolean>
  /** Draws into an empty element, and returns what removes it again. Rejects, with a message for the person, where nothing can be shown. */
  mount(element: PartElement, host: ViewerHost): (() => void) | Promise<() => void>
}
