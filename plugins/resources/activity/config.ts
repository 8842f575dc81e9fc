import { s } from 'pounce/sdk'

export const config = s.Object({
  disableEvents: s.Boolean({ default: false, description: 'Hide the activity feed from everyone; events are still recorded' }),
  showCommentOnHomepage: s.Boolean({
    default: false,
    description: "Include comments in the activity feed: on the caller's own resources, and in spaces where they may read comments",
  }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
