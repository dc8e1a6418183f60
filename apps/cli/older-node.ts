/* oxlint-disable import/no-unassigned-import -- each adds to what is global, where it is missing */
/**
 * What the packed command uses and Node 20 lacks: JSON that keeps the digits of numbers, Map.groupBy and Array.fromAsync.
 * core-js and not our own, because its JSON.parse is a whole parser.
 */
import "core-js/stable/json/parse.js";
import "core-js/stable/json/raw-json.js";
import "core-js/stable/json/is-raw-json.js";
import "core-js/stable/json/stringify.js";
import "core-js/stable/map/group-by.js";
import "core-js/stable/array/from-async.js";
