import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { configPort, Installation, type StatusPart, type s, wire } from 'pounce/sdk'
import { config } from './disk-blobs.ts'

const Config = configPort(config)

/** Where the bytes lie, for the status page. */
export class DiskStatus implements StatusPart {
  readonly name = 'storage'
  readonly facts = { location: 'disk' }
  readonly details: { readonly path: string }

  constructor({ folder }: s.Static<typeof config>, installation: Installation) {
    this.details = { path: folder ?? join(installation.dataFolder, 'blobs') }
  }

  async check(): Promise<undefined> {
    await access(this.details.path, constants.R_OK | constants.W_OK)
  }
}
wire(DiskStatus, Config, Installation)
