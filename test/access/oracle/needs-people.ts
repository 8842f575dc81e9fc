import type { Needs } from './needs.ts'

/** What the routes of people, spaces and their members take; see `needs.ts`. */
export const needsOfPeople: Needs = {
  // users
  getMe: 'signedIn',
  login: 'anyone',
  logout: 'anyone',
  createUser: 'serverAdmin',
  followUser: 'signedIn; ViewUser user=followeeUUID',
  getUser: 'ViewUser user=id',
  getUserByEmail: 'ViewUser mail=email',
  listRoles: 'signedIn',
  listUsers: 'serverAdmin',
  renameUser: 'EditUser user=id',
  setStatuses: 'serverAdmin; known user=user',
  unfollowUser: 'signedIn; blind user=followeeUUID',
  createKey: 'account',
  deleteKey: 'account',
  getKey: 'account',
  listKeys: 'account',
  getSetUp: 'anyone',
  setUpFirstAdmin: 'anyone',
  // spaces
  createSpace: 'CreateSpace',
  deleteSpace: 'DeleteSpace space=id',
  followSpace: 'signedIn; ViewSpace space=id',
  getSpace: 'ViewSpace space=id',
  listEditableSpaces: 'reader',
  listSpaces: 'anyone',
  unfollowSpace: 'signedIn; blind space=id',
  updateSpace: 'EditSpace space=id',
  verifySpace: 'serverAdmin; known space=id',
  acceptSpaceRequest: 'EditSpace space=id; known user=user',
  rejectSpaceRequest: 'EditSpace space=id; known user=user',
  removeSpaceUser: 'EditSpace space=id; known user=removeUser',
  updateSpaceUsers: 'EditSpace space=id; known user=user',
}
