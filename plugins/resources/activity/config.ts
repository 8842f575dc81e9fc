import { s } from 'pounce/sdk'

export const config = s.Object({
  disableEvents: s.Boolean({ default: false, description: 'Hides the feed from everybody; it is still written' }),
  showCommentOnHomepage: s.Boolean({
    default: false,
    description: 'The feed also has comments on what one made, and on what is in spaces where one may read comments',
  }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
