import type { Installation } from 'pounce/sdk'
import type { Mount } from './http/mount.ts'

/** The OpenAPI 3.0.1 document of routes. */
export const openapiDocument = (mounts: readonly Mount[], { version, baseUrl }: Pick<Installation, 'version' | 'baseUrl'>): object => ({
  openapi: '3.0.1',
  info: { title: 'Pounce', version },
  servers: [{ url: baseUrl }],
  paths: Object.fromEntries(mounts.map(mount => [mount.declaration.path, {}])),
})
