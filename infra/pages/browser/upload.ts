document.querySelector("#content");
