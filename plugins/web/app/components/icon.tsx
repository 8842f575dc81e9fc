import bodies from 'virtual:icons'
import type { IconName } from './icon-names.ts'

/** An icon beside text; on its own, its container needs a label. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    aria-hidden="true"
    focusable="false"
    // biome-ignore lint/security/noDangerouslySetInnerHtml: paths of the icon set, put in by the build
    dangerouslySetInnerHTML={{ __html: bodies[name] }}
  />
)
