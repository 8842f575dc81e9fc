import { definePlugin, MalwareScanners, provide } from 'pounce/sdk'
import { ClamavScan } from './clamav-scan.ts'
import { config } from './config.ts'

export const plugin = definePlugin({
  id: 'scan.clamav',
  summary: 'Scans new files for malware with a ClamAV daemon (clamd).',
  config,
  provides: [provide(MalwareScanners, ClamavScan)],
})
