/** A bundle of the server: its folder and the file of each SDK entry point. */
export interface Bundle {
  readonly id: string
  readonly url: string
  readonly entry: string
  readonly sdk: Readonly<Record<string, string>>
}

export function currentBundle(manifest?: URL): Bundle | undefined
export function resolveInBundle(bundle: Bundle): void
