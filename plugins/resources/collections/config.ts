import { configPort, s, trashSettings } from 'pounce/sdk'

export const config = s.Object(trashSettings('collection'))
export const Config = configPort(config)
export type Settings = s.Static<typeof config>
