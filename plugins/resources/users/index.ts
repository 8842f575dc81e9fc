import { Callers, Commands, definePlugin, Greetings, Keys, Knocks, on, provide, ReportSources, RightsOf, Users } from 'pounce/sdk'
import { AccountDirectory, Directory } from './account-list.ts'
import { AccountMail, Post } from './account-mail.ts'
import { AccountOffice, Accounts } from './accounts.ts'
import { keys, roles, sessions, settings, tries, users } from './collections.ts'
import { config } from './config.ts'
import { EndKeys } from './end-keys.ts'
import { FirstAdmin, SetUp } from './first-admin.ts'
import { Held, HeldRoles } from './held-roles.ts'
import { LinkIdentity, UnlinkIdentity } from './identity-commands.ts'
import { InstallationSecret, Secret } from './installation-secret.ts'
import { CreateKey, ListKeys, RevokeKey } from './key-commands.ts'
import { Keyring, KeyStore } from './keyring.ts'
import { Outside, OutsideAccounts } from './outside-accounts.ts'
import { OwnPassword, PasswordChange } from './own-password.ts'
import { People, Portraits } from './portraits.ts'
import { ProfileDesk, Profiles } from './profiles.ts'
import { RefusalNotes, Refusals } from './refusals.ts'
import { UserSource } from './report-source.ts'
import { RequestCallers } from './request-callers.ts'
import { HandOverRole, RoleOffice, RoleOffices } from './role-office.ts'
import * as accountRoutes from './routes-account.ts'
import * as adminUserRoutes from './routes-admin-users.ts'
import * as keyRoutes from './routes-keys.ts'
import * as roleRoutes from './routes-roles.ts'
import * as sessionRoutes from './routes-sessions.ts'
import * as setUpRoutes from './routes-setup.ts'
import * as siteRoutes from './routes-sites.ts'
import * as userRoutes from './routes-users.ts'
import { AccountSignIn, SignIn } from './sign-in.ts'
import { Notes, SignInNotes } from './sign-in-notes.ts'
import { AccountStanding, Standing } from './standing.ts'
import { Memberships, StoredMemberships } from './stored-memberships.ts'
import { Roles, StoredRoles } from './stored-roles.ts'
import { Sessions, StoredSessions } from './stored-sessions.ts'
import { StoredTries, Tries } from './stored-tries.ts'
import { StoredUsers } from './stored-users.ts'
import { SweepSessions } from './sweep-sessions.ts'
import { TellLinked } from './tell-linked.ts'
import { TellAdmins, TellOwner } from './tell-people.ts'
import { Doors, Throttle } from './throttle.ts'
import { ChangePassword, CreateUser, ListUsers, PromoteUser } from './user-commands.ts'
import { UserRights } from './user-rights.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.users',
  summary: 'Accounts, their API keys, sessions and roles.',
  config,
  provides: [
    provide(Roles, StoredRoles),
    provide(Held, HeldRoles),
    provide(Memberships, StoredMemberships),
    provide(RoleOffices, RoleOffice),
    provide(Standing, AccountStanding),
    provide(Users, StoredUsers),
    provide(Accounts, AccountOffice),
    provide(Directory, AccountDirectory),
    provide(Secret, InstallationSecret),
    provide(KeyStore, Keyring),
    provide(Keys, Keyring),
    provide(Sessions, StoredSessions),
    provide(Tries, StoredTries),
    provide(RefusalNotes, Refusals),
    provide(Doors, Throttle),
    provide(Knocks, Throttle),
    provide(Outside, OutsideAccounts),
    provide(Notes, SignInNotes),
    provide(SignIn, AccountSignIn),
    provide(Callers, RequestCallers),
    provide(OwnPassword, PasswordChange),
    provide(Post, AccountMail),
    provide(ProfileDesk, Profiles),
    provide(People, Portraits),
    provide(SetUp, FirstAdmin),
    provide(Greetings, FirstAdmin),
    provide(RightsOf, UserRights),
    provide(Commands, CreateUser),
    provide(Commands, PromoteUser),
    provide(Commands, ChangePassword),
    provide(Commands, LinkIdentity),
    provide(Commands, UnlinkIdentity),
    provide(Commands, ListUsers),
    provide(Commands, CreateKey),
    provide(Commands, ListKeys),
    provide(Commands, RevokeKey),
    provide(ReportSources, UserSource),
  ],
  routes: {
    ...accountRoutes,
    ...adminUserRoutes,
    ...userRoutes,
    ...keyRoutes,
    ...roleRoutes,
    ...sessionRoutes,
    ...siteRoutes,
    ...setUpRoutes,
  },
  collections: [users, roles, keys, sessions, tries, settings],
  handlers: [
    on('user.linked', TellLinked),
    on('user.updated', TellOwner),
    on('user.updated', EndKeys),
    on('user.created', TellAdmins),
    on('role.removed', HandOverRole),
  ],
  periodic: [{ name: 'sweep-sessions', everyMs: hourMs, task: SweepSessions }],
})
