/** A bundle of the server: the folder it lies in, and the file of each entry of the SDK. */
export interface Bundle {
  readonly id: string
  readonly url: string
  readonly entry: string
  readonly sdk: Readonly<Record<string, string>>
}

export function currentBundle(manifest?: URL): Bundle | undefined
export function resolveInBundle(bundle: Bundle): void
