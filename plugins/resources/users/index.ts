import { Callers, Commands, definePlugin, Greetings, Keys, Knocks, on, provide, ReportSources, RightsOf, Users } from 'pounce/sdk'
import { AccountDirectory, Directory } from './accounts/account-list.ts'
import { AccountMail, Post } from './accounts/account-mail.ts'
import { AccountOffice, Accounts } from './accounts/accounts.ts'
import { FirstAdmin, SetUp } from './accounts/first-admin.ts'
import { OwnPassword, PasswordChange } from './accounts/own-password.ts'
import { People, Portraits } from './accounts/portraits.ts'
import { ProfileDesk, Profiles } from './accounts/profiles.ts'
import { UserSource } from './accounts/report-source.ts'
import * as adminUserRoutes from './accounts/routes-admin-users.ts'
import * as setUpRoutes from './accounts/routes-setup.ts'
import * as userRoutes from './accounts/routes-users.ts'
import { AccountStanding, Standing } from './accounts/standing.ts'
import { Memberships, StoredMemberships } from './accounts/stored-memberships.ts'
import { StoredUsers } from './accounts/stored-users.ts'
import { TellAdmins, TellOwner } from './accounts/tell-people.ts'
import { ChangePassword, CreateUser, ListUsers, PromoteUser } from './accounts/user-commands.ts'
import { UserRights } from './accounts/user-rights.ts'
import { keys, roles, sessions, settings, tries, users } from './collections.ts'
import { config } from './config.ts'
import { EndKeys } from './keys/end-keys.ts'
import { InstallationSecret, Secret } from './keys/installation-secret.ts'
import { CreateKey, ListKeys, RevokeKey } from './keys/key-commands.ts'
import { Keyring, KeyStore } from './keys/keyring.ts'
import * as keyRoutes from './keys/routes-keys.ts'
import { Held, HeldRoles } from './roles/held-roles.ts'
import { HandOverRole, RoleOffice, RoleOffices } from './roles/role-office.ts'
import * as roleRoutes from './roles/routes-roles.ts'
import { Roles, StoredRoles } from './roles/stored-roles.ts'
import { LinkIdentity, UnlinkIdentity } from './sign-in/identity-commands.ts'
import { Outside, OutsideAccounts } from './sign-in/outside-accounts.ts'
import { RefusalNotes, Refusals } from './sign-in/refusals.ts'
import { RequestCallers } from './sign-in/request-callers.ts'
import * as accountRoutes from './sign-in/routes-account.ts'
import * as sessionRoutes from './sign-in/routes-sessions.ts'
import * as siteRoutes from './sign-in/routes-sites.ts'
import { AccountSignIn, SignIn } from './sign-in/sign-in.ts'
import { Notes, SignInNotes } from './sign-in/sign-in-notes.ts'
import { Sessions, StoredSessions } from './sign-in/stored-sessions.ts'
import { StoredTries, Tries } from './sign-in/stored-tries.ts'
import { SweepSessions } from './sign-in/sweep-sessions.ts'
import { TellLinked } from './sign-in/tell-linked.ts'
import { Doors, Throttle } from './sign-in/throttle.ts'

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
