/* oxlint-disable import/no-unassigned-import -- each adds to what is global */
/** JSON that keeps the digits of numbers, for Safari before 18.4 and Firefox before 135. */
import "core-js/stable/json/parse.js";
import "core-js/stable/json/raw-json.js";
import "core-js/stable/json/is-raw-json.js";
import "core-js/stable/json/stringify.js";
