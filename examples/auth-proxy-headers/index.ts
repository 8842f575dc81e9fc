import { AuthProviders, definePlugin, provide } from 'pounce/sdk'
import { config, ProxyHeaders } from './proxy-headers.ts'

export const plugin = definePlugin({
  id: 'example.auth-proxy-headers',
  summary: 'Sign-in by the signed headers of a reverse proxy.',
  config,
  provides: [provide(AuthProviders, ProxyHeaders)],
})
