(* Numbers that meet all that the theorem of the limited domain asks for, and what is wrong with less. *)

From Coq Require Import Reals Lra Lia List Bool Arith.
From Discreet Require Import LimitedDomain.
Import ListNotations.
Open Scope R_scope.

(* Three keys that nobody has, 0, 1 and 2, and five that have 3, 2, 2, 1 and 0 units; one comes, with the keys 5 and 6. *)
Definition units (i : nat) : nat := match i with 3%nat => 3%nat | 4%nat => 2%nat | 5%nat => 2%nat | 6%nat => 1%nat | _ => 0%nat end.
Definition units' (i : nat) : nat := match i with 3%nat => 3%nat | 4%nat => 2%nat | 5%nat => 3%nat | 6%nat => 2%nat | _ => 0%nat end.

Lemma comes : joins units units' [5%nat; 6%nat].
Proof.
  split; [|split].
  - repeat constructor; cbn; intros H; lia.
  - intros i [<-|[<-|[]]]; reflexivity.
  - intros i out. cbn in out.
    do 8 (destruct i as [|i]; [try reflexivity; exfalso; apply out; auto|]). reflexivity.
Qed.

(* Two of eight keys are ahead of all others, of which `next` is the first: by trying each. *)
Ltac two_are_ahead_of next :=
  split; [repeat constructor; cbn; intros H; lia|];
  split; [intros i [<-|[<-|[]]]; lia|];
  split; [|split];
  [ intros i j inside out below; unfold ahead; cbn in inside, out;
    destruct inside as [<-|[<-|[]]]; do 8 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]); lia
  | exists next; split; [lia|split; [cbn; lia|reflexivity]]
  | intros j below out; cbn in out; do 8 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]); lia ].

(* The first two: 3 and 4 before, 3 and 5 after. *)
Lemma first_two : top 8 units [3%nat; 4%nat] 2.
Proof. two_are_ahead_of 5%nat. Qed.

Lemma first_two' : top 8 units' [3%nat; 5%nat] 2.
Proof. two_are_ahead_of 4%nat. Qed.

(* e^eta = 2, delta = 1/10, two rounds. *)
Example limited_domain_private_instance :
  forall event,
    limited 2 (1 / 10) 3 2 1 2 units [3%nat; 4%nat] 2 event
    <= 2 ^ 2 * limited 2 (1 / 10) 3 2 1 2 units' [3%nat; 5%nat] 2 event + 1 / 10 /\
    limited 2 (1 / 10) 3 2 1 2 units' [3%nat; 5%nat] 2 event
    <= 2 ^ 2 * limited 2 (1 / 10) 3 2 1 2 units [3%nat; 4%nat] 2 event + 1 / 10.
Proof.
  intros event.
  apply (limited_domain_private 8 units units' [5%nat; 6%nat] [3%nat; 4%nat] [3%nat; 5%nat] 2 2);
    try exact comes; try exact first_two; try exact first_two'; try reflexivity; try lra; try lia.
Qed.

(* A unit gives way to another: the key 4 loses one, and 5 gains one. The first two are 3 and 4 before, 3 and 5 after. *)
Definition exchanged (i : nat) : nat := match i with 3%nat => 3%nat | 4%nat => 1%nat | 5%nat => 3%nat | 6%nat => 1%nat | _ => 0%nat end.

Lemma gives_way : exchanges units exchanged [4%nat] [5%nat].
Proof.
  split; [repeat constructor; cbn; intros H; lia|split; [repeat constructor; cbn; intros H; lia|split; [|split]]].
  - intros i [<-|[]]. reflexivity.
  - intros i [<-|[]]. reflexivity.
  - intros i out_a out_b. cbn in out_a, out_b.
    do 8 (destruct i as [|i]; [try reflexivity; exfalso; first [apply out_a; left; reflexivity|apply out_b; left; reflexivity]|]).
    reflexivity.
Qed.

Lemma first_two_exchanged : top 8 exchanged [3%nat; 5%nat] 1.
Proof. two_are_ahead_of 4%nat. Qed.

(* e^eta = 2, delta = 1/10, two rounds. *)
Example limited_domain_replace_one_instance :
  forall event,
    limited 2 (1 / 10) 3 1 2 2 units [3%nat; 4%nat] 2 event
    <= (2 ^ 2) ^ 2 * limited 2 (1 / 10) 3 1 2 2 exchanged [3%nat; 5%nat] 1 event + 1 / 10 /\
    limited 2 (1 / 10) 3 1 2 2 exchanged [3%nat; 5%nat] 1 event
    <= (2 ^ 2) ^ 2 * limited 2 (1 / 10) 3 1 2 2 units [3%nat; 4%nat] 2 event + 1 / 10.
Proof.
  intros event.
  apply (limited_domain_replace_one 8 units exchanged [4%nat] [5%nat] [3%nat; 4%nat] [3%nat; 5%nat] 2 1);
    try exact gives_way; try exact first_two; try exact first_two_exchanged; try reflexivity; try lra; cbn; lia.
Qed.

(* Slots of weights 1, 1 and 3, of which the second becomes 2 and is bad, with 18 for nothing. *)
Definition some_slots : list slot :=
  [{| weight := 1; weight' := 1; answer := Some 0%nat; answer' := Some 0%nat; bad := false |};
   {| weight := 1; weight' := 2; answer := Some 1%nat; answer' := None; bad := true |};
   {| weight := 3; weight' := 3; answer := None; answer' := None; bad := false |}].

Example slots_private_instance :
  forall event,
    peel 2 18 (map one some_slots) event <= 2 ^ 2 * peel 2 18 (map other some_slots) event + 1 / 10 /\
    peel 2 18 (map other some_slots) event <= 2 ^ 2 * peel 2 18 (map one some_slots) event + 1 / 10.
Proof.
  intros event.
  apply slots_private with (low := 1); try lra.
  - intros s [<-|[<-|[<-|[]]]]; cbn; lra.
  - intros s [<-|[<-|[<-|[]]]]; cbn; lra.
  - intros s [<-|[<-|[<-|[]]]]; cbn; congruence.
  - intros s [<-|[<-|[<-|[]]]]; cbn; lra.
  - unfold bad_weight. cbn [total some_slots bad weight]. lra.
  - unfold bad_weight. cbn [total some_slots bad weight']. lra.
Qed.

(* ---- What is wrong with less ---- *)

(* Two keys: one of a single unit, and one that nobody has but spare ones, in one round. *)
Definition alone (i : nat) : nat := 0%nat.
Definition alone' (i : nat) : nat := match i with 2%nat => 1%nat | _ => 0%nat end.

Lemma one_comes : joins alone alone' [2%nat].
Proof.
  split; [|split].
  - repeat constructor; cbn; intros H; lia.
  - intros i [<-|[]]. reflexivity.
  - intros i out. cbn in out. do 3 (destruct i as [|i]; [try reflexivity; exfalso; apply out; auto|]). reflexivity.
Qed.

Lemma none_first : top 4 alone [0%nat] 0 /\ top 4 alone' [2%nat] 0.
Proof.
  split; (split; [repeat constructor; cbn; intros H; lia|]); (split; [intros i [<-|[]]; lia|]);
    (split; [|split]).
  - intros i j [<-|[]] out below. unfold ahead, alone. cbn in out. lia.
  - exists 1%nat. split; [lia|split; [cbn; lia|reflexivity]].
  - intros j _ _. unfold alone. lia.
  - intros i j [<-|[]] out below. unfold ahead. cbn in out.
    do 4 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]). lia.
  - exists 1%nat. split; [lia|split; [cbn; lia|reflexivity]].
  - intros j below out. cbn in out. do 4 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]). lia.
Qed.

Definition is_shown (list : list nat) : bool := match list with [] => false | _ => true end.

(* The key that one unit brings is answered with probability delta exactly. *)
Lemma delta_is_used :
  limited 2 (1 / 10) 2 1 1 1 alone' [2%nat] 0 is_shown = 1 / 10 /\
  limited 2 (1 / 10) 2 1 1 1 alone [0%nat] 0 is_shown = 0.
Proof.
  unfold limited, ending, items. cbn [peel map picks total fst snd told is_shown alone alone' Nat.ltb Nat.leb Nat.add pow INR].
  unfold told. cbn [is_shown]. split; field.
Qed.

(* With e^(eta (tau + T)) as the weight of nothing, one less in the exponent. *)
Lemma the_unit_itself_counts :
  exists event,
    peel 1 (2 ^ 0 * (INR 1 * (1 - 1 / 10) / (1 / 10))) (items 2 2 alone' [2%nat]) event
    > 2 ^ 1 * peel 1 (2 ^ 0 * (INR 1 * (1 - 1 / 10) / (1 / 10))) (items 2 2 alone [0%nat]) event + 1 / 10.
Proof.
  exists is_shown. unfold items.
  cbn [peel map picks total fst snd told is_shown alone alone' Nat.ltb Nat.leb Nat.add pow INR]. unfold told. cbn [is_shown].
  apply Rlt_gt. apply Rminus_gt. apply Rlt_gt.
  replace (_ - _) with (2 / 11 - 1 / 10) by field. lra.
Qed.

(* Two keys of a unit that come in at once, with m = 1. *)
Definition pair' (i : nat) : nat := match i with 4%nat => 1%nat | 5%nat => 1%nat | _ => 0%nat end.

Lemma two_come : joins alone pair' [4%nat; 5%nat].
Proof.
  split; [|split].
  - repeat constructor; cbn; intros H; lia.
  - intros i [<-|[<-|[]]]; reflexivity.
  - intros i out. cbn in out. do 6 (destruct i as [|i]; [try reflexivity; exfalso; apply out; auto|]). reflexivity.
Qed.

Lemma m_counts_the_keys_of_a_unit :
  exists event,
    limited 2 (1 / 10) 4 1 1 1 pair' [4%nat; 5%nat] 0 event
    > 2 ^ 1 * limited 2 (1 / 10) 4 1 1 1 alone [0%nat; 1%nat] 0 event + 1 / 10.
Proof.
  exists is_shown. unfold limited, ending, items.
  cbn [peel map picks total fst snd told is_shown alone pair' Nat.ltb Nat.leb Nat.add pow INR]. unfold told. cbn [is_shown].
  apply Rlt_gt. apply Rminus_gt. apply Rlt_gt.
  replace (_ - _) with (2 / 11 - 1 / 10) by field. lra.
Qed.

(* An order of equal counts that changes between neighbours lets keys out of which the unit has none: with the lists of
   the wrong order, more keys come in than the unit has. *)
Lemma an_order_that_changes_lets_others_in :
  exists counts counts' A D D',
    joins counts counts' A /\ length D = length D' /\
    (forall i j, In i D -> ~ In j D -> (counts j <= counts i)%nat) /\
    (forall i j, In i D' -> ~ In j D' -> (counts' j <= counts' i)%nat) /\
    exists x, In x D' /\ ~ In x D /\ ~ In x A.
Proof.
  exists (fun _ => 0%nat), (fun i => if Nat.eqb i 0 then 1%nat else 0%nat), [0%nat], [0%nat; 1%nat], [0%nat; 2%nat].
  split; [|split; [reflexivity|split; [intros; lia|split]]].
  - split; [repeat constructor; cbn; intros H; lia|split].
    + intros i [<-|[]]. reflexivity.
    + intros i out. cbn in out. destruct i; [exfalso; apply out; auto|reflexivity].
  - intros i j inside out. cbn in inside, out. destruct j as [|j]; [exfalso; apply out; auto|]. cbn. lia.
  - exists 2%nat. cbn. repeat split; lia.
Qed.

(* ---- Where a unit gives way to another ---- *)

(* Two keys of one unit each, of which the first loses its unit to the second, and one key is read. *)
Definition even (i : nat) : nat := match i with 2%nat => 1%nat | 3%nat => 1%nat | _ => 0%nat end.
Definition moved (i : nat) : nat := match i with 3%nat => 2%nat | _ => 0%nat end.

Lemma the_unit_moves : exchanges even moved [2%nat] [3%nat].
Proof.
  split; [repeat constructor; cbn; intros H; lia|split; [repeat constructor; cbn; intros H; lia|split; [|split]]].
  - intros i [<-|[]]. reflexivity.
  - intros i [<-|[]]. reflexivity.
  - intros i out_a out_b. cbn in out_a, out_b.
    do 4 (destruct i as [|i]; [try reflexivity; exfalso; first [apply out_a; left; reflexivity|apply out_b; left; reflexivity]|]).
    reflexivity.
Qed.

Lemma the_first_of_both : top 4 even [2%nat] 1 /\ top 4 moved [3%nat] 0.
Proof.
  split; (split; [repeat constructor; cbn; intros H; lia|]); (split; [intros i [<-|[]]; lia|]);
    (split; [|split]).
  - intros i j [<-|[]] out below. unfold ahead. cbn in out.
    do 4 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]). lia.
  - exists 3%nat. split; [lia|split; [cbn; lia|reflexivity]].
  - intros j below out. cbn in out. do 4 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]). lia.
  - intros i j [<-|[]] out below. unfold ahead. cbn in out.
    do 4 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]). lia.
  - exists 2%nat. split; [lia|split; [cbn; lia|reflexivity]].
  - intros j below out. cbn in out. do 4 (destruct j as [|j]; [cbn; try lia; exfalso; apply out; auto|]). lia.
Qed.

Definition begins_with (key : nat) (list : list nat) : bool := match list with [] => false | first :: _ => Nat.eqb first key end.

(* With e^(eta (tau + 1 + T)) as the weight of nothing: a key that comes in may have two more than the next. *)
Lemma one_is_no_spread_of_a_replaced_unit :
  exists event,
    limited 2 (1 / 10) 2 1 1 1 moved [3%nat] 0 event
    > (2 ^ 2) ^ 1 * limited 2 (1 / 10) 2 1 1 1 even [2%nat] 1 event + 1 / 10.
Proof.
  exists (begins_with 3). unfold limited, ending, items.
  cbn [peel map picks total fst snd told begins_with even moved Nat.ltb Nat.leb Nat.eqb Nat.add pow INR]. unfold told.
  cbn [begins_with Nat.eqb]. apply Rlt_gt. apply Rminus_gt. apply Rlt_gt.
  replace (_ - _) with (2 / 11 - 1 / 10) by field. lra.
Qed.

(* And with it, in a list of one key, delta is used exactly. *)
Lemma delta_is_used_by_a_replaced_unit :
  limited 2 (1 / 10) 2 1 2 1 moved [3%nat] 0 (begins_with 3) = 1 / 10 /\
  limited 2 (1 / 10) 2 1 2 1 even [2%nat] 1 (begins_with 3) = 0.
Proof.
  unfold limited, ending, items.
  cbn [peel map picks total fst snd told begins_with even moved Nat.ltb Nat.leb Nat.eqb Nat.add pow INR]. unfold told.
  cbn [begins_with Nat.eqb]. split; field.
Qed.

(* A range of eta a round, as where a unit comes: two keys, of 8 and 9 units, that become 7 and 10; delta = 1/20. *)
Definition near_two (i : nat) : nat := match i with 2%nat => 8%nat | 3%nat => 9%nat | _ => 0%nat end.
Definition apart_two (i : nat) : nat := match i with 2%nat => 7%nat | 3%nat => 10%nat | _ => 0%nat end.

Lemma two_apart : exchanges near_two apart_two [2%nat] [3%nat].
Proof.
  split; [repeat constructor; cbn; intros H; lia|split; [repeat constructor; cbn; intros H; lia|split; [|split]]].
  - intros i [<-|[]]. reflexivity.
  - intros i [<-|[]]. reflexivity.
  - intros i out_a out_b. cbn in out_a, out_b.
    do 4 (destruct i as [|i]; [try reflexivity; exfalso; first [apply out_a; left; reflexivity|apply out_b; left; reflexivity]|]).
    reflexivity.
Qed.

Lemma once_eta_is_no_range_of_a_replaced_unit :
  exists event,
    limited 2 (1 / 20) 2 1 2 1 near_two [2%nat; 3%nat] 0 event
    > 2 ^ 1 * limited 2 (1 / 20) 2 1 2 1 apart_two [2%nat; 3%nat] 0 event + 1 / 20.
Proof.
  exists (begins_with 2). unfold limited, ending, items.
  cbn [peel map picks total fst snd told begins_with near_two apart_two Nat.ltb Nat.leb Nat.eqb Nat.add pow INR]. unfold told.
  cbn [begins_with Nat.eqb]. apply Rlt_gt. apply Rminus_gt. apply Rlt_gt.
  replace (_ - _) with (64 / 211 - 64 / 307 - 1 / 20) by field. lra.
Qed.
